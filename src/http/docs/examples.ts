import type { Operation } from '../api/contract/operation.ts'

/** How an operation is asked for, in three languages. */
export type Examples = { curl: string; javascript: string; python: string }

/** What the examples are filled with. */
export type ExampleValues = {
  /** Of the service, without a trailing slash. */
  url: string
  /** What the parts of an address in braces stand for. */
  parts: Readonly<Record<string, string>>
}

/** A request in the words of all three. */
type Request = {
  method: string
  url: string
  /** Header fields whose values are fixed. */
  headers: [name: string, value: string][]
  credentials: 'bearer' | 'basic' | 'password' | 'nothing'
  body: Body
}

type Body =
  | { is: 'nothing' }
  | { is: 'file' }
  | { is: 'signaler' }
  | { is: 'json'; text: string }
  | { is: 'lines'; lines: string[] }

/**
 * Composes the examples of an operation. They read `message.eml` of the folder they run in, and the
 * variables TOKEN, EMAIL and PASSWORD. Tests run them as they are.
 */
export function composeExamples(operation: Operation, values: ExampleValues): Examples {
  const request = requestOf(operation, values)
  return {
    curl: composeCurl(request),
    javascript: composeJavaScript(request),
    python: composePython(request),
  }
}

function requestOf({ method, path, need, example }: Operation, values: ExampleValues): Request {
  const filled = path.replaceAll(/\{(\w+)\}/g, (all, name: string) => values.parts[name] ?? all)
  const body = bodyOf(example.body)
  const type = typeOf(body)
  return {
    method: method.toUpperCase(),
    url: `${values.url}${filled}${example.query ?? ''}`,
    headers: [
      ...Object.entries(example.headers ?? {}),
      ...(type === undefined ? [] : [['Content-Type', type] as [string, string]]),
    ],
    credentials: credentialsFor(need),
    body,
  }
}

function credentialsFor(need: Operation['need']): Request['credentials'] {
  if (need === 'nothing') return 'nothing'
  if (need === 'plug-in') return 'basic'
  return need === 'mail-server' ? 'password' : 'bearer'
}

function bodyOf(given: Operation['example']['body']): Body {
  if (given === undefined) return { is: 'nothing' }
  if (given === 'message' || given === 'form') return { is: 'file' }
  if (given === 'signaler') return { is: 'signaler' }
  if (Array.isArray(given)) return { is: 'lines', lines: given.map((one) => JSON.stringify(one)) }
  return { is: 'json', text: JSON.stringify(given) }
}

function typeOf(body: Body): string | undefined {
  if (body.is === 'file') return 'message/rfc822'
  if (body.is === 'json') return 'application/json'
  return body.is === 'lines' ? 'application/x-ndjson' : undefined
}

function composeCurl({ method, url, headers, credentials, body }: Request): string {
  const proofs = {
    bearer: ['--header "Authorization: Bearer $TOKEN"'],
    basic: ['--user "$EMAIL:$TOKEN"'],
    password: ['--header "Password: $PASSWORD"'],
    nothing: [],
  }
  const parts = [
    `curl --silent --show-error --request ${method} '${url}'`,
    ...proofs[credentials],
    ...headers.map(([name, value]) => `--header '${name}: ${value}'`),
  ]
  if (body.is === 'file') parts.push('--data-binary @message.eml')
  if (body.is === 'json') parts.push(`--data '${body.text}'`)
  if (body.is === 'signaler') parts.push('--data-urlencode "message=$(base64 < message.eml)"')
  if (body.is !== 'lines') return parts.join(' \\\n  ')
  const message = '$(base64 < message.eml | tr -d "\\n")'
  const lines = body.lines.map((line) => line.replace('{message}', message))
  return [`${parts.join(' \\\n  ')} \\\n  --data-binary @- <<END`, ...lines, 'END'].join('\n')
}

function composeJavaScript({ method, url, headers, credentials, body }: Request): string {
  const proofs = {
    bearer: ['Authorization: `Bearer ${process.env.TOKEN}`'],
    basic: ['Authorization: `Basic ${btoa(`${process.env.EMAIL}:${process.env.TOKEN}`)}`'],
    password: ['Password: process.env.PASSWORD'],
    nothing: [],
  }
  const fields = [
    ...proofs[credentials],
    ...headers.map(([name, value]) => `${quoted(name)}: ${quoted(value)}`),
  ]
  const readsFile = ['file', 'signaler', 'lines'].includes(body.is)
  const bodies: Record<Body['is'], string | undefined> = {
    nothing: undefined,
    file: 'message',
    signaler: "new URLSearchParams({ message: message.toString('base64') })",
    json: body.is === 'json' ? `JSON.stringify(${body.text})` : undefined,
    lines: "lines.map((line) => JSON.stringify(line)).join('\\n')",
  }
  const inMessage = (line: string) => line.replace('"{message}"', "message.toString('base64')")
  return [
    ...(readsFile ? ["import { readFile } from 'node:fs/promises'", ''] : []),
    ...(readsFile ? ["const message = await readFile('message.eml')"] : []),
    ...(body.is === 'lines'
      ? ['const lines = [', ...body.lines.map((line) => `  ${inMessage(line)},`), ']']
      : []),
    `const answer = await fetch('${url}', {`,
    `  method: '${method}',`,
    ...(fields.length > 0 ? ['  headers: {', ...fields.map((one) => `    ${one},`), '  },'] : []),
    ...(bodies[body.is] === undefined ? [] : [`  body: ${bodies[body.is]},`]),
    '})',
    'console.log(answer.status, await answer.text())',
  ].join('\n')
}

function composePython({ method, url, headers, credentials, body }: Request): string {
  const basic = "base64.b64encode(f\"{os.environ['EMAIL']}:{os.environ['TOKEN']}\".encode())"
  const proofs = {
    bearer: [`"Authorization": f"Bearer {os.environ['TOKEN']}"`],
    basic: [`"Authorization": "Basic " + ${basic}.decode()`],
    password: [`"Password": os.environ["PASSWORD"]`],
    nothing: [],
  }
  const fields = [
    ...proofs[credentials],
    ...headers.map(([name, value]) => `"${name}": "${value}"`),
  ]
  const bodies: Record<Body['is'], string | undefined> = {
    nothing: undefined,
    file: 'message',
    signaler: 'urllib.parse.urlencode({"message": base64.b64encode(message)}).encode()',
    json: body.is === 'json' ? `json.dumps(${body.text}).encode()` : undefined,
    lines: '"\\n".join(json.dumps(line) for line in lines).encode()',
  }
  const data = bodies[body.is]
  const inMessage = (line: string) =>
    line.replace('"{message}"', 'base64.b64encode(message).decode()')
  return [
    'import base64, json, os, urllib.error, urllib.parse, urllib.request',
    '',
    ...(['file', 'signaler', 'lines'].includes(body.is)
      ? ['message = open("message.eml", "rb").read()']
      : []),
    ...(body.is === 'lines'
      ? ['lines = [', ...body.lines.map((line) => `    ${inMessage(line)},`), ']']
      : []),
    'request = urllib.request.Request(',
    `    "${url}",`,
    `    method="${method}",`,
    ...(fields.length > 0
      ? ['    headers={', ...fields.map((one) => `        ${one},`), '    },']
      : []),
    ...(data === undefined ? [] : [`    data=${data},`]),
    ')',
    'try:',
    '    answer = urllib.request.urlopen(request)',
    'except urllib.error.HTTPError as error:',
    '    answer = error',
    'print(answer.status, answer.read().decode())',
  ].join('\n')
}

/** As a key or a value of JavaScript. */
function quoted(text: string): string {
  return `'${text}'`
}
