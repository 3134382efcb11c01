import { defineConfig } from 'vitest/config'
import usual from './vitest.config.ts'

/** One or a few tests of each subject that writes to distributed tables. */
const marked = [
  'test/citus/*.test.ts',
  'test/e2e/pipeline.test.ts',
  'test/e2e/mail-in.test.ts',
  'test/db/{campaign-days,feedback-reports,reports,shards}.test.ts',
  'test/db/counting/{evidence,folds,gate,karma,look-up,owners,reader}.test.ts',
  'test/db/feedback/{forward-report,inbound-answers,inbound-bounces,merged,pacing}.test.ts',
  'test/db/judging/judge-checked.test.ts',
  'test/db/letters/send-letter.test.ts',
  'test/db/marketers/unsubscribe.test.ts',
  'test/db/people/{deliver-webhooks,limits}.test.ts',
  'test/db/{releases,processes/backup}.test.ts',
  'test/db/queue/*.test.ts',
  'test/db/reports/{analyze,change,count}-report{,s}.test.ts',
  'test/db/reports/{intake,join-campaigns,keep-house,learn-relays,lost-jobs}.test.ts',
  'test/db/reports/{relay-news,shadow-bans}.test.ts',
  'test/db/web/account/{erasing,erasing-at-once,export,sign-up}.test.ts',
  'test/db/web/{campaigns,counters,reputations}.test.ts',
  'test/db/web/history/*.test.ts',
]

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
  },
})
