import type { Config } from '../../config.ts'
import type { Logger } from '../../log.ts'

/** `signalpost lists`, for the table of commands; what it needs is loaded when it is run. */
export const listsCommand = {
  usage: 'lists publish | show NAME',
  summary: 'write the lists for others; tell whether an address, domain or host is listed',
  async run({ args, config, log }: { args: readonly string[]; config: Config; log: Logger }) {
    const { parseLists, runLists } = await import('./lists.ts')
    const request = parseLists(args)
    const { withDatabase } = await import('../open-app.ts')
    const told = await withDatabase(config, log, (app) => runLists(request, app))
    process.stdout.write(`${told}\n`)
    return 0
  },
}
