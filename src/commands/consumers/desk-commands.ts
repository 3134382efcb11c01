import type { CommandContext } from '../command.ts'
import { readFile } from 'node:fs/promises'
import { outboxCommand } from '../outbox/outbox-command.ts'
import { suppressionsCommand } from '../suppressions/suppressions-command.ts'

const consumersCommand = {
  usage:
    'consumers list [--state STATE] [--search PART] | export | import FILE |\n' +
    '    show ADDRESS | pause ADDRESS [--days N] | resume ADDRESS | stop ADDRESS |\n' +
    '    set ADDRESS [--enroll] [--format arf|xarf] [--form whole|headers]\n' +
    '      [--pace at-once|campaign|digest] [--takes spam,phishing,malware] [--hourly N|none]\n' +
    '      [--connections N|none] [--scopes CIDR,ASn,DOMAIN|none] [--note TEXT]',
  summary: 'whom we tell, and how; JSON lines; 1 when there is no such consumer',
  async run({ args, config, log }: CommandContext) {
    const { parseConsumers, runConsumers } = await import('./consumers.ts')
    const request = parseConsumers(args)
    const lines = request.action === 'import' ? await readFile(request.file, 'utf8') : ''
    const { withDatabase } = await import('../open-app.ts')
    const done = await withDatabase(config, log, (app) => runConsumers(request, lines, app))
    process.stdout.write(done.told)
    return done.isDone ? 0 : 1
  },
}

/** The commands about what leaves, whom we tell, and whom we do not write to, by their names. */
export const deskCommands = {
  outbox: outboxCommand,
  suppressions: suppressionsCommand,
  consumers: consumersCommand,
}
