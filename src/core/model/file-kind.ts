export type FileKind = 'file' | 'folder' | 'link' | 'other'
