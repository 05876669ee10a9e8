/** Where the folders of a repository are, from what is known of its place. Pure. */
import path from 'node:path'

/** The folder that users know a repository by, and move as a whole: the main checkout, or of a bare one the git folder. */
export function repoRoot(commonDir: string): string {
  return path.basename(commonDir) === '.git' ? path.dirname(commonDir) : commonDir
}

/** The root of the checkout in hand, or in a bare repository its git folder. */
export function checkoutRoot(place: {
  readonly checkout: string | null
  readonly commonDir: string
}): string {
  return place.checkout ?? place.commonDir
}
