import { createParserPool, type ParserPool } from '../../src/parsing/parser-pool.ts'

/**
 * One parser thread for all test files of a worker, because each new thread takes 150 ms of a core
 * to load its modules. It ends with the worker.
 */
export const parser: ParserPool = createParserPool(1)
