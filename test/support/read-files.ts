import { createFileReader, readFilesWith } from '../../src/parsing/files/file-reader.ts'

/** Reads files in the processes of one reader for all tests of a worker. They end with it. */
export const readFiles = readFilesWith(createFileReader())
