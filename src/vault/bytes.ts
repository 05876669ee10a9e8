export * from '../core/bytes.ts'
