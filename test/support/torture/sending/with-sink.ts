import { pino } from 'pino'
import { type OpenApp, openApp } from '../../../../src/processes/open-app.ts'
import { readConfig } from '../../../../src/config.ts'
import { type SmtpSink, startSmtpSink } from '../../smtp-sink.ts'
import { withOwnDatabase } from '../../own-database.ts'

/** Runs work on a separate database, with an application whose mail goes to a sink. */
export async function withSink<T>(work: (app: OpenApp, sink: SmtpSink) => Promise<T>): Promise<T> {
  const sink = await startSmtpSink()
  try {
    return await withMailServer(sink.url, (app) => work(app, sink))
  } finally {
    await sink.close()
  }
}

/** Runs work on a separate database, with an application whose mail goes to a mail server. */
export function withMailServer<T>(smtpUrl: string, work: (app: OpenApp) => Promise<T>): Promise<T> {
  return withOwnDatabase(async ({ url }) => {
    const settings = {
      SECRET: 'a secret of the torture, long enough for all',
      SMTP_URL: smtpUrl,
      MESSAGE_AGE_MAX: '0',
    }
    const config = { ...readConfig(settings, { cores: 1, cwd: '/nowhere' }), databaseUrl: url }
    const app = await openApp(config, 'works', pino({ level: 'silent' }), 'torture')
    try {
      return await work(app)
    } finally {
      await app.close()
    }
  })
}
