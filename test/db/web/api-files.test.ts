import { expect, test } from 'vitest'
import { closeAfterTests } from '../../support/after-tests.ts'
import { outlookFile, traveledHeader } from '../../support/containers/outlook-file.ts'
import { zipFile } from '../../support/containers/zip-file.ts'
import { sampleMessage, startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite({ MESSAGE_BYTES_MAX: '1000000' }))
const ann = await site.addPerson('ann@reporters.example')

type FilesAnswer = {
  id?: string
  type?: string
  results?: { file: string | null; id?: string; problem?: { type: string } }[]
}

async function send(
  body: Buffer | FormData,
  headers: Record<string, string> = {},
  after = '',
): Promise<{ status: number; said: FilesAnswer; answer: Response }> {
  const answer = await fetch(`${site.url}/api/v1/reports${after}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ann.token}`, ...headers },
    body: body instanceof FormData ? body : Buffer.from(body),
  })
  return { status: answer.status, said: (await answer.json()) as FilesAnswer, answer }
}

const typed = (type: string) => ({ 'content-type': type })
const archive = (...marks: string[]) =>
  zipFile(marks.map((mark) => ({ name: `${mark}.eml`, content: sampleMessage(mark) })))

/** Returns for each file its problem, or whether it was accepted. */
const shown = ({ results = [] }: FilesAnswer) =>
  results.map(({ file, id, problem }) => [file, problem?.type.split('#')[1] ?? typeof id])

function formOf(files: readonly [name: string, content: Buffer][]): FormData {
  const form = new FormData()
  for (const [name, content] of files) form.append('f', new Blob([Buffer.from(content)]), name)
  return form
}

test('an archive gives a result for each message inside', async () => {
  const bytes = zipFile([
    { name: 'a.eml', content: sampleMessage('in-a') },
    { name: 'locked.eml', content: sampleMessage('in-b'), flags: 1 },
    { name: 'c.txt', content: Buffer.from('no message') },
  ])
  const { status, said } = await send(bytes, typed('application/zip'), '?kind=phishing')
  expect(status).toBe(202)
  expect(shown(said)).toEqual([
    ['messages.zip › a.eml', 'string'],
    ['messages.zip › locked.eml', 'encrypted-archive'],
    ['messages.zip › c.txt', 'not-a-message'],
  ])
  const { rows } = await site.app.pool.query<{ kind: string }>(
    'select kind, channel from reports where id = $1',
    [said.results?.[0]?.id],
  )
  expect(rows).toEqual([{ kind: 'phishing', channel: 'api' }])
})

test('a mailbox file gives each of its messages; one message gives a receipt', async () => {
  const from = 'From a@b.example Mon Nov 16 10:00:00 2026\r\n'
  const box = (...marks: string[]) =>
    Buffer.concat(
      marks.flatMap((mark) => [Buffer.from(from), sampleMessage(mark), Buffer.from('\r\n')]),
    )
  const two = await send(box('box-1', 'box-2'), typed('application/mbox'))
  expect(shown(two.said)).toEqual([
    ['messages.mbox › 1', 'string'],
    ['messages.mbox › 2', 'string'],
  ])
  const one = await send(box('box-3'), typed('application/mbox'))
  expect([one.status, typeof one.said.id, one.said.results]).toEqual([202, 'string', undefined])
  expect(one.answer.headers.get('location')).toContain(one.said.id)
})

test('a look counts the messages of a file, names unreadable ones, and reports none', async () => {
  const bytes = zipFile([
    { name: 'a.eml', content: sampleMessage('look-a') },
    { name: 'b.eml', content: sampleMessage('look-b') },
    { name: 'locked.eml', content: sampleMessage('look-c'), flags: 1 },
  ])
  const countReports = async () =>
    (await site.app.pool.query<{ count: number }>('select count(*)::int as count from reports'))
      .rows[0]?.count
  const before = await countReports()
  const { status, said } = await send(bytes, typed('application/zip'), '/look')
  expect([status, said]).toEqual([
    200,
    {
      found: 2,
      messages: [
        { file: 'messages.zip › a.eml', problem: null },
        { file: 'messages.zip › b.eml', problem: null },
        {
          file: 'messages.zip › locked.eml',
          problem: expect.objectContaining({ title: 'The archive is encrypted' }) as unknown,
        },
      ],
    },
  ])
  expect(await countReports()).toBe(before)
})

test('an Outlook file is rebuilt, or the error says what it lacks', async () => {
  const type = typed('application/vnd.ms-outlook')
  const { said } = await send(outlookFile({ header: traveledHeader, text: 'Buy' }), type)
  const headers = { authorization: `Bearer ${ann.token}` }
  const report = await fetch(`${site.url}/api/v1/reports/${said.id}`, { headers })
  expect(await report.json()).toMatchObject({ rebuilt_from: 'msg' })
  const never = await send(outlookFile({ text: 'never traveled' }), type)
  expect([never.status, never.said.type?.split('#')[1]]).toEqual([422, 'no-header'])
})

test('files of a form are opened, and a refused one delays no other', async () => {
  const { status, said } = await send(
    formOf([
      ['one.eml', sampleMessage('form-one')],
      ['two.zip', archive('form-two', 'form-three')],
      ['<b>.zip', Buffer.from('PK\x03\x04 and no more', 'latin1')],
      ['big.eml', Buffer.alloc(1_000_001, 'x')],
    ]),
  )
  expect(status).toBe(202)
  expect(shown(said)).toEqual([
    ['one.eml', 'string'],
    ['two.zip › form-two.eml', 'string'],
    ['two.zip › form-three.eml', 'string'],
    ['<b>.zip', 'damaged-archive'],
    ['big.eml', 'too-big'],
  ])
})

test('the bytes decide whether a file is an archive; a message is not opened', async () => {
  const message = await send(sampleMessage('no zip'), typed('application/zip'))
  expect([message.status, typeof message.said.id]).toEqual([202, 'string'])
  const hidden = await send(archive('hidden'), typed('message/rfc822'))
  expect([hidden.status, hidden.said.type?.split('#')[1]]).toEqual([400, 'not-a-message'])
})

test('a repeated key gets the same answer for an archive, which is not opened again', async () => {
  const headers = { ...typed('application/zip'), 'idempotency-key': 'zip' }
  const bytes = archive('key-a', 'key-b')
  const [first, again] = [await send(bytes, headers), await send(bytes, headers)]
  expect(first.said.results?.map(({ file }) => file)).toEqual([
    'messages.zip › key-a.eml',
    'messages.zip › key-b.eml',
  ])
  expect(again.answer.headers.get('idempotency-replayed')).toBe('true')
  const ids = ({ said }: typeof first) => said.results?.map(({ id }) => id)
  expect([again.status, ids(again)]).toEqual([202, ids(first)])
  expect(again.said.results?.map(({ file }) => file)).toEqual([null, null])
  const other = await send(archive('key-a'), headers)
  expect(other.said.type).toContain('#key-used')
  const { rows } = await site.app.pool.query<{ body: string }>(
    'select answer_body as body from idempotency_keys where answer_body is not null',
  )
  expect(rows.map(({ body }) => body).join()).not.toContain('.eml')
})

test('messages inside files count as messages, the first before the file is opened', async () => {
  const left = async (bytes: Buffer) => {
    const { answer, status } = await send(bytes, typed('application/zip'))
    return [status, Number(/;r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1])] as const
  }
  const [, before] = await left(archive('count-0'))
  const [, after] = await left(archive('count-1', 'count-2', 'count-3'))
  expect(before - after).toBe(3)
  await site.app.pool.query(`update rate_limits set attempts_max = 1 where attempt = 'report'`)
  const url = `${site.url}/api/v1/reports`
  const authorization = `Bearer ${ann.token}`
  const refused = async () => {
    const headers = { authorization, ...typed('application/zip') }
    const answer = await fetch(url, { method: 'POST', headers, body: 'PK\x03\x04 damaged' })
    return answer.status
  }
  await expect.poll(refused).toBe(429)
})
