import { defineConfig } from 'vitest/config'
import usual from './vitest.config.ts'
import { marked } from './test/citus/marked.ts'
import { startWith } from './test/support/start-with.ts'

/**
 * The tests that run on a cluster of Citus: `npm run test:citus` runs a marked set, and with
 * CITUS_TESTS=all every test of `test/db` and `test/e2e`.
 */
export default defineConfig({
  test: {
    ...usual.test,
    include: process.env['CITUS_TESTS'] === 'all' ? ['test/{citus,db,e2e}/**/*.test.ts'] : marked,
    exclude: [
      // These test a server of their own, or the schema of a single one. Single tests that need
      // one server skip themselves, and say why.
      'test/db/{embedded,schema-dump,schema-rules}.test.ts',
      'test/db/processes/{migrate,move-rows}.test.ts',
      'test/e2e/start.test.ts',
    ],
    globalSetup: ['test/citus/global-setup.ts'],
    sequence: {
      sequencer: startWith(
        ...['/processes/backup', '/counting/gate', '/test/e2e/', '/reports/probes', '/releases'],
        ...['/reports/keep-house', '/web/campaigns', '/account/erasing', '/citus/migrate'],
      ),
    },
  },
})
