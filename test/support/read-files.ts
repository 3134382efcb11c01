import { createFileReader, readFilesWith } from '../../src/parsing/files/file-reader.ts'

/** One reader for all tests of a worker, whose process takes a second to start. It ends with it. */
export const fileReader = createFileReader()
export const readFiles = readFilesWith(fileReader)
