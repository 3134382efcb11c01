import { describe, expect, test } from 'vitest'
import { bounceReason, isHardBounce } from '../../../../src/mail/bounces/bounce-reason.ts'
import table from '../../../../src/mail/bounces/phrases.json' with { type: 'json' }
import { replyCodeIn, statusIn } from '../../../../src/mail/bounces/codes.ts'

function reasonOf(text: string, hosts: readonly string[] = []): string {
  const status = statusIn(text)
  return bounceReason({ text, status, replyCode: replyCodeIn(text, status), hosts })
}

const rcpt = '(in reply to RCPT TO command)'
const data = '(in reply to end of DATA command)'

describe('a reply is classified by its words', () => {
  test.for([
    ['a name that contains dots', 'domain [a.example.org] mismatches client ip 192.0.2.1', ''],
    ['a user in brackets', `550 User (a@example.org) unknown. ${rcpt}`, 'userunknown'],
    ['a mailbox that is named', `550 mailbox a@example.org unavailable ${rcpt}`, 'userunknown'],
    ['a full mailbox that is named', `550 mailbox a@example.org is full ${rcpt}`, 'mailboxfull'],
    ['a filter by its name', `550 blocked by spamassassin ${data}`, 'spamdetected'],
    ['a list whose name begins alike', `550 blocked by zen.spamhaus.example ${data}`, 'blocked'],
    ['nothing but a refusal', '550 Blocked', 'blocked'],
    ['a mailbox, in words that blame it', `550 5.2.1 Mailbox unavailable ${rcpt}`, 'userunknown'],
    [
      'a mailbox, in words that blame the client',
      `550 5.2.1 Mailbox unavailable. Your IP address 192.0.2.1 is blacklisted by us ${rcpt}`,
      'blocked',
    ],
    ['a move', '550 5.7.17 mailbox owner has changed', 'hasmoved'],
    ['a code for a move, with other words', `550 5.7.17 no such user ${rcpt}`, 'userunknown'],
  ] as const)('of %s', ([, text, reason]) => {
    expect(reasonOf(text)).toBe(reason === '' ? 'requireptr' : reason)
  })

  test.for([
    ['Spanish', '550 Usuario inexistente', 'userunknown'],
    ['Spanish, of room', '550 El buzón del usuario está lleno', 'mailboxfull'],
    ['Portuguese', '550 Usuário não encontrado', 'userunknown'],
    ['Portuguese, of room', '552 Caixa postal cheia', 'mailboxfull'],
    ['Italian', '550 Destinatario sconosciuto', 'userunknown'],
    ['Italian, of room', '552 Casella di posta piena', 'mailboxfull'],
    ['French', '550 Adresse inconnue', 'userunknown'],
    ['French, of room', '552 Boîte aux lettres pleine', 'mailboxfull'],
    ['Dutch', '550 Ontvanger bestaat niet', 'userunknown'],
    ['Polish', '550 Użytkownik nieznany', 'userunknown'],
    ['Polish, of room', '552 Skrzynka jest pełna', 'mailboxfull'],
    ['Turkish', '550 Kullanıcı bulunamadı', 'userunknown'],
    ['Russian', '550 Адресат не найден', 'userunknown'],
    ['Chinese', '550 收件人不存在', 'userunknown'],
    ['Japanese', '550 宛先が見つかりません', 'userunknown'],
    ['Korean', '550 존재하지 않는 사용자', 'userunknown'],
  ] as const)('in %s', ([, text, reason]) => {
    expect(reasonOf(text)).toBe(reason)
  })

  test.for([
    ['names nothing', '550 Requested action aborted'],
    ['is temporary and says no more', '450 4.0.0 Temporary failure'],
    ['speaks of no user', '550 Usuario'],
  ] as const)('is undetermined when it %s', ([, text]) => {
    expect(reasonOf(text)).toBe('onhold')
  })

  test('a recipient is not called unknown if the server accepted it and the message', () => {
    expect(reasonOf(`550 Usuario inexistente ${data}`)).toBe('filtered')
    expect(reasonOf(`550 Usuario inexistente ${rcpt}`)).toBe('userunknown')
  })
})

describe('provider-specific wording', () => {
  const outlook = ['a.mail.protection.outlook.com', 'example.org', '']
  const gmail = ['gmail-smtp-in.l.google.com', 'gmail.com', '']
  test.for([
    ['550 5.4.1 Recipient address rejected: Access denied. AS(1)', outlook, 'userunknown'],
    ['550 5.7.504 [a@example.org]: Recipient address rejected: Access denied', outlook, 'suspend'],
    ['550 5.7.511 Access denied, banned sender[192.0.2.1].', outlook, 'blocked'],
    ['550 5.7.502 Access denied, banned sender', outlook, 'rejected'],
    ['550 5.7.708 Access denied, traffic not accepted from this IP', outlook, 'speeding'],
    ['450 4.4.316 Connection refused', outlook, 'networkerror'],
    ['550 5.4.310 DNS domain a.example does not exist', outlook, 'hostunknown'],
    ['421 4.7.28 Gmail has detected an unusual rate of unsolicited mail', gmail, 'blocked'],
    ['550 5.7.1 This mail has been rate limited', gmail, 'speeding'],
    ['552 5.3.4 Your message exceeded message header size limits', gmail, 'exceedlimit'],
    ["552 5.3.4 It exceeds Google's message size limit of 9 bytes", gmail, 'mesgtoobig'],
    ['451 4.5.0 SMTP protocol violation', gmail, 'syntaxerror'],
    ['454 4.7.0 Too many login attempts', gmail, 'securityerror'],
  ] as const)('%s', ([text, hosts, reason]) => {
    expect(reasonOf(text, hosts)).toBe(reason)
  })

  test('does not apply to text that the provider quotes', () => {
    const text = '451 4.0.0 Multiple destination domains per transaction'
    expect(reasonOf(text, ['mx.example.org', 'example.org', 'mail.google.com'])).not.toBe(
      reasonOf(text, ['', 'example.org', 'mail.google.com']),
    )
  })

  test('a refusal before the recipient is about the sending host', () => {
    const text =
      '421 4.7.0 Messages temporarily deferred due to unexpected volume or user complaints'
    const hosts = ['mta5.am0.yahoodns.net', 'example.org', '']
    expect(reasonOf(`${text} (in reply to MAIL FROM command)`, hosts)).toBe('rejected')
    expect(reasonOf(text, hosts)).toBe('badreputation')
  })
})

describe('text around a reply', () => {
  test('closing words are a cause only if the system gives no cause of its own', () => {
    const closing = "I'm not going to try again; this message has been in the queue too long."
    expect(reasonOf(`Connected to 192.0.2.1 but my name was rejected. ${closing}`)).toBe('blocked')
    expect(reasonOf(`Unable to contact LDAP server. (#4.4.3)${closing}`)).toBe('systemerror')
    expect(reasonOf(`So it is. ${closing}`)).toBe('expired')
    expect(reasonOf('So it is.')).toBe('onhold')
  })

  test('a crashed program is not the fault of the host', () => {
    const failure = { text: '255', status: '5.3.0', replyCode: undefined }
    expect(bounceReason({ ...failure, type: 'x-unix' })).toBe('mailererror')
    expect(bounceReason({ ...failure, type: 'smtp' })).toBe('systemerror')
  })

  test('a stage in brackets counts like one in words', () => {
    expect(reasonOf('550 5.2.1 <a@example.org>... User Unknown [RCPT_TO]')).toBe('userunknown')
    expect(reasonOf('550 5.2.1 <a@example.org>... User Unknown [BODY]')).toBe('filtered')
  })

  test('an unknown recipient is a hard bounce, a filter a soft one', () => {
    expect(isHardBounce('userunknown', '5.2.1')).toBe(true)
    expect(isHardBounce('filtered', '5.2.1')).toBe(false)
  })
})

describe('the table of phrases', () => {
  const { providerCodes, conclusions, phrases, refusalPhrases, loosePhrases, statuses } = table
  const providers = table.providers.map(({ reasons }) => reasons)
  const own = [conclusions, phrases, refusalPhrases, loosePhrases]
  const groups = [providerCodes, ...own, ...providers]
  const listed: unknown[] = groups.flatMap((group) => Object.values(group).flat())

  test('has only reasons that exist', () => {
    const used = [...groups, statuses].flatMap((group) => Object.keys(group))
    const known = [...Object.keys(table.inferredDetails), 'suppressed']
    expect(
      [...used, ...Object.values(table.categories)].filter((one) => !known.includes(one)),
    ).toEqual([])
  })

  test('refers only to expressions that it has', () => {
    const referred = listed.flatMap((line) => String(line).match(/(?<=<)\w+(?=>)/g) ?? [])
    expect(new Set(referred)).toEqual(new Set(Object.keys(table.names)))
  })
})
