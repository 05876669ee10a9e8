/** The rule for commit messages: `area: verb …`, and the why in a body that fits a terminal. */

const subjectWidth = 72
const bodyWidth = 120

/** `vault: pin …`, `cli, docs: name …`, `core/landing: split …`. */
const subjectShape = /^[a-z0-9][a-z0-9./-]*(?:, [a-z0-9][a-z0-9./-]*)*: [a-z][^ ]* \S/

/** What is wrong with a message, one sentence each; none if it keeps the rule. */
export function messageFaults(message: string): string[] {
  const [subject = '', second = '', ...body] = message.trimEnd().split('\n')
  const faults: string[] = []
  if (!subjectShape.test(subject)) faults.push('the subject is not `area: verb …` in lower case')
  if (subject.length > subjectWidth)
    faults.push(`the subject has ${subject.length} characters, not ${subjectWidth} at most`)
  if (subject.endsWith('.')) faults.push('the subject ends with a full stop')
  if (second !== '') faults.push('no empty line follows the subject')
  // A single word cannot be wrapped: an address, a path.
  const long = body.filter((line) => line.length > bodyWidth && line.trim().includes(' '))
  for (const line of long)
    faults.push(
      `a line of the body has ${line.length} characters, not ${bodyWidth} at most: ${line.slice(0, 40)}…`,
    )
  return faults
}
