import type { CommandContext } from '../command.ts'

/** `signalpost reputation`, for the table of commands; what it needs is loaded when it is run. */
export const reputationCommand = {
  usage: 'reputation [KIND] NAME [--json]',
  summary: 'tell what is known of an address, author, link, file …, and why; 1 when nothing is',
  async run({ args, config, log }: CommandContext) {
    const { parseReputation, tellReputation } = await import('./reputation.ts')
    const request = parseReputation(args)
    const { withDatabase } = await import('../open-app.ts')
    const { text, isKnown } = await withDatabase(config, log, (app) => tellReputation(request, app))
    const { shownText } = await import('../../http/shown-text.ts')
    process.stdout.write(`${request.isJson ? text : shownText(text, TEXT_CHARS_MAX)}\n`)
    return isKnown ? 0 : 1
  },
}

const TEXT_CHARS_MAX = 1_000_000
