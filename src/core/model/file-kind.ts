/** The kinds of entries in a folder, as far as offshoot tells them apart. */
export type FileKind = 'file' | 'folder' | 'link' | 'other'
