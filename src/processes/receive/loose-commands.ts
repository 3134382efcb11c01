import type { SMTPServer, SMTPServerSession } from 'smtp-server'

/**
 * Makes a session accept MAIL and RCPT commands as programs that send spam write them:
 * without the colon or the angle brackets, or with an unusual return path such as a quoted local
 * part. `smtp-server` refuses them, and the mail to spam traps would be lost.
 */
export function acceptLooseCommands(
  { id }: SMTPServerSession,
  { connections }: Pick<SMTPServer, 'connections'>,
): void {
  for (const connection of connections) if (connection.id === id) loosen(connection)
}

type Connection = SMTPServer['connections'] extends Set<infer Member> ? Member : never

function loosen(connection: Connection): void {
  const { handler_MAIL: takeMail, handler_RCPT: takeRcpt } = connection
  connection.handler_MAIL = (command, callback) => {
    const loose = looseMail(command.toString())
    if (!loose) return takeMail.call(connection, command, callback)
    const isFirst = connection.session.envelope.mailFrom === false
    takeMail.call(connection, Buffer.from(loose.command), () => {
      const { mailFrom } = connection.session.envelope
      if (isFirst && mailFrom) mailFrom.address = loose.path
      callback()
    })
  }
  connection.handler_RCPT = (command, callback) => {
    takeRcpt.call(connection, Buffer.from(usualRcpt(command.toString())), callback)
  }
}

const quoted = '"(?:[^"\\\\]|\\\\.)*"'
const inBrackets = `<((?:${quoted}|[^"<>])*)>`
const bare = `((?:${quoted}@)?[^\\s<>"]*)`
const afterName = `(?:\\s*:\\s*|\\s+|(?=<))(?:${inBrackets}|${bare})((?:\\s.*)?)$`
const mailForm = new RegExp(`^mail\\s+from${afterName}`, 'is')
const rcptForm = new RegExp(`^rcpt\\s+to${afterName}`, 'is')
const atom = "[\\w!#$%&'*+/=?^`{|}~-]+"
const atoms = `${atom}(?:\\.${atom})*`
const usualForm = new RegExp(
  `^mail from:\\s*<(?:${atoms}@[a-z0-9-]+(?:\\.[a-z0-9-]+)*)?>(?:\\s|$)`,
  'i',
)
const needlessQuotes = new RegExp(`^"(${atoms})"(?=@)`)
const control = /[\p{Cc}\p{Cf}]/u

/**
 * Reads a MAIL command with an unusual return path. Returns the path, and the command with the null
 * return path in its place. Undefined for a usual command, and for one that cannot be read.
 */
export function looseMail(line: string): { path: string; command: string } | undefined {
  if (usualForm.test(line)) return undefined
  const [all, inside, plain, parameters = ''] = mailForm.exec(line) ?? []
  const path = (inside ?? plain ?? '').trim()
  if (all === undefined || path === '' || control.test(line)) return undefined
  return { path, command: `MAIL FROM:<>${parameters}` }
}

/** The RCPT command with angle brackets, and without the quotes that a local part does not need. */
export function usualRcpt(line: string): string {
  const [all, inside, plain, parameters = ''] = rcptForm.exec(line) ?? []
  if (all === undefined) return line
  const address = (inside ?? plain ?? '').trim().replace(needlessQuotes, '$1')
  return `RCPT TO:<${address}>${parameters}`
}
