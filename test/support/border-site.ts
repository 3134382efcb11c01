import { runAnalyzeReport } from '../../src/reports/analyze-report.ts'
import { closeAfterThisTest } from './after-tests.ts'
import { openTestApp } from './app.ts'
import { relayedMessage } from './messages.ts'
import { parser } from './parser.ts'

/** The address of the border. */
export const border = '192.0.2.10'

/** Opens a site whose reporters read mail behind a border of another domain. */
export async function openBorderSite() {
  const app = await closeAfterThisTest(openTestApp({ ORIGIN_CONFIDENCE_MIN: '0.7' }))
  const analyze = (reportId: string) => runAnalyzeReport([{ reportId }], { ...app, parser })
  return {
    app,
    analyze,
    /** Reports a message that came through the border. */
    async report(mark: string, reporterId = app.ann) {
      const raw = relayedMessage(mark).toString().replaceAll('relay.provider', 'mx.hoster')
      const { id } = await app.report(Buffer.from(raw), { reporterId })
      await analyze(id)
      return id
    },
  }
}
