import { defineConfig } from 'vitest/config'
import usual from './vitest.config.ts'
import { marked } from './test/citus/marked.ts'

/**
 * The database tests on PostgreSQL 15: `npm run test:postgres15`. Those that run on a cluster of
 * Citus are left out, because it is PostgreSQL 15 too, and those of the embedded server, because
 * they start servers of its own version.
 */
export default defineConfig({
  test: {
    ...usual.test,
    include: ['test/db/**/*.test.ts'],
    exclude: [...marked, 'test/db/embedded.test.ts'],
  },
})
