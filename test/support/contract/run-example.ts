import { spawn } from 'node:child_process'
import type { ExampleAnswer } from './example-site.ts'
import type { Person } from '../../db/web/web-site.ts'

/** Runs a program in a folder with a person's credentials, and returns everything it writes. */
export function runProgram(
  command: readonly [program: string, ...args: string[]],
  { folder, person }: { folder: string; person: Person },
): Promise<string> {
  const [program, ...args] = command
  const env = {
    PATH: process.env['PATH'],
    TOKEN: person.token,
    EMAIL: person.email,
    PASSWORD: person.password,
  }
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let [out, error] = ['', '']
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (error += chunk.toString()))
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve(out)
      else reject(new Error(`${program} ended with ${code}: ${error}`))
    })
  })
}

/** Parses the output of an example in JavaScript or Python: the status, a space, the body. */
export function saidIn(out: string): ExampleAnswer {
  const at = out.indexOf(' ')
  return { status: Number(out.slice(0, at)), text: out.slice(at + 1).trim() }
}
