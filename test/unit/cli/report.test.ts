import { createServer } from 'node:http'
import { writeFile, mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { reportFiles } from '../../../src/cli/report.ts'
import { outlookFile, traveledHeader } from '../../support/containers/outlook-file.ts'

test('each message of a mailbox file is reported, and an Outlook file as it is', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'report-'))
  const taken: string[] = []
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      taken.push(Buffer.concat(chunks).toString())
      res.writeHead(202).end(JSON.stringify({ id: `id${taken.length}` }))
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const box = path.join(folder, 'box')
  const outlook = path.join(folder, 'a.msg')
  const line = 'From a Mon Nov 16 10:00:00 2026\n'
  await writeFile(box, `${line}Subject: 1\n\nText\n\n${line}Subject: 2\n\nText\n`)
  await writeFile(outlook, outlookFile({ header: traveledHeader, text: 'x' }))
  const said: string[] = []
  const say = (text: string) => void said.push(text.replaceAll(folder, ''))
  const { port } = server.address() as AddressInfo
  const request = {
    files: [box, outlook],
    url: `http://127.0.0.1:${port}`,
    token: 't',
    kind: 'spam',
  }
  const io = { stdin: process.stdin, print: say, complain: say }
  expect(await reportFiles(request, io)).toBe(0)
  expect(taken.slice(0, 2)).toEqual(['Subject: 1\n\nText\n', 'Subject: 2\n\nText\n'])
  expect(taken).toHaveLength(3)
  expect(said).toEqual([
    '/box › 1: accepted as id1',
    '/box › 2: accepted as id2',
    '/a.msg: accepted as id3',
  ])
  server.close()
  await rm(folder, { recursive: true })
})

test('a service that does not answer, or does not accept the token, is named', async () => {
  const server = createServer((_req, res) => {
    res.writeHead(401).end(JSON.stringify({ title: 'No', detail: 'Not valid.' }))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stdin = () => Readable.from([Buffer.from('Subject: 1\n\nText\n')])
  const said: string[] = []
  const say = (text: string) => void said.push(text)
  const request = { files: ['-'], url, token: 't', kind: 'spam' }
  expect(await reportFiles(request, { stdin: stdin(), print: say, complain: say })).toBe(1)
  server.close()
  server.closeAllConnections()
  expect(await reportFiles(request, { stdin: stdin(), print: say, complain: say })).toBe(1)
  expect(said[0]).toContain(`No: Not valid. Create a token at ${url}/account/tokens.`)
  expect(said[1]).toMatch(/: http:\S+ does not answer \(connect ECONNREFUSED .+\)\.$/)
})
