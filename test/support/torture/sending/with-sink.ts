import { pino } from 'pino'
import { type OpenApp, openApp } from '../../../../src/processes/open-app.ts'
import { readConfig } from '../../../../src/config.ts'
import { type SmtpSink, startSmtpSink } from '../../smtp-sink.ts'
import { withOwnDatabase } from '../../own-database.ts'

/** Runs work on a separate database, with an application whose mail goes to a sink. */
export function withSink<T>(work: (app: OpenApp, sink: SmtpSink) => Promise<T>): Promise<T> {
  return withOwnDatabase(async ({ url }) => {
    const sink = await startSmtpSink()
    const settings = {
      SECRET: 'a secret of the torture, long enough for all',
      SMTP_URL: sink.url,
      MESSAGE_AGE_MAX: '0',
    }
    const config = { ...readConfig(settings, { cores: 1, cwd: '/nowhere' }), databaseUrl: url }
    const app = await openApp(config, 'works', pino({ level: 'silent' }), 'torture')
    try {
      return await work(app, sink)
    } finally {
      await app.close()
      await sink.close()
    }
  })
}
