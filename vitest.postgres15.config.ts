import { defineConfig } from 'vitest/config'
import usual from './vitest.config.ts'
import { marked } from './test/citus/marked.ts'

/**
 * The database tests on PostgreSQL 15, except those that run on a cluster of Citus, which is
 * PostgreSQL 15 too: `npm run test:postgres15`.
 */
export default defineConfig({
  test: {
    ...usual.test,
    include: ['test/db/**/*.test.ts'],
    exclude: marked,
  },
})
