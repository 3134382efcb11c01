import { expect, test } from 'vitest'
import { closeAfterTests } from '../../support/after-tests.ts'
import { sampleMessage, startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite({ MESSAGE_BYTES_MAX: '1000000' }))

type Answer = {
  id?: string
  type?: string
  detail?: string
  found?: number
  results?: { file: string | null; id?: string }[]
}
type Person = { token: string }

async function send(
  { token }: Person,
  body: Buffer | FormData,
  type?: string,
): Promise<{ status: number; said: Answer }> {
  const answer = await fetch(`${site.url}/api/v1/reports`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...(type && { 'content-type': type }) },
    body: body instanceof FormData ? body : Buffer.from(body),
  })
  return { status: answer.status, said: (await answer.json()) as Answer }
}

async function rawOf({ token }: Person, id: string | undefined): Promise<Buffer> {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${site.url}/api/v1/reports/${id}/raw`, { headers })
  return Buffer.from(await answer.arrayBuffer())
}

test('a mailbox that is sent as one message gives all its messages, and their number', async () => {
  const ann = await site.addPerson('ann@reporters.example')
  const marks = Array.from({ length: 20 }, (_, at) => `bare-${at}`)
  const box = Buffer.concat(
    marks.flatMap((mark) => [Buffer.from('From \r\n'), sampleMessage(mark)]),
  )
  const { status, said } = await send(ann, box, 'message/rfc822')
  expect(status).toBe(202)
  expect(said.found).toBe(20)
  expect(said.results?.filter(({ id }) => id !== undefined)).toHaveLength(20)
  expect(await rawOf(ann, said.results?.[19]?.id)).toEqual(sampleMessage('bare-19'))
  const json = JSON.stringify({ message_base64: box.toString('base64') })
  expect((await send(ann, Buffer.from(json), 'application/json')).said.found).toBe(20)
})

test.for([
  ['small', ''],
  ['large', `${'x'.repeat(75)}\r\n`.repeat(3_000)],
] as const)('a %s message in another dress is stored as itself', async ([mark, more]) => {
  const bob = await site.addPerson(`bob-${mark}@reporters.example`)
  const message = Buffer.concat([sampleMessage(mark), Buffer.from(more)])
  const given = Buffer.concat([Buffer.from('\uFEFF\r\n'), message])
  const { said } = await send(bob, given, 'message/rfc822')
  expect((await rawOf(bob, said.id)).equals(message)).toBe(true)
  const form = new FormData()
  const wide = Buffer.from(`\uFEFF${message.toString()}`, 'utf16le')
  form.append('f', new Blob([wide]), 'utf16.eml')
  expect((await send(bob, form)).said.id).toBe(said.id)
})

test('a refusal names the line that is wrong, or what to do', async () => {
  const eve = await site.addPerson('eve@reporters.example')
  const text = await send(eve, Buffer.from('Subject: x\r\nHello all\r\n'), 'message/rfc822')
  expect(text.status).toBe(400)
  expect(text.said.detail).toContain('Line 2 ("Hello all") is not part of a header.')
  const pst = await send(eve, Buffer.from(`!BDN${'x'.repeat(600)}`), 'application/mbox')
  expect(pst.said.type).toContain('#outlook-data-file')
  expect(pst.said.detail).toContain('Drag the messages from Outlook to a folder')
})
