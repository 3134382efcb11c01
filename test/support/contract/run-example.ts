import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { ExampleAnswer } from './example-site.ts'
import type { Person } from '../../db/web/web-site.ts'

type Place = { folder: string; person: Person; deskToken?: string }

function environmentOf({ token, email, password }: Person, deskToken: string) {
  const own = { TOKEN: token, EMAIL: email, PASSWORD: password, DESK_TOKEN: deskToken }
  return { PATH: process.env['PATH'], ...own }
}

/**
 * Starts a process that runs programs in JavaScript in a folder with a person's credentials, one
 * after the other. `run` returns what the program writes. Starting a process for each program takes
 * much longer.
 */
export function startJavaScript({ folder, person, deskToken = '' }: Place) {
  const runner = new URL('example-runner.ts', import.meta.url)
  const child = fork(runner, { cwd: folder, env: environmentOf(person, deskToken), execArgv: [] })
  let number = 0
  return {
    run: async (text: string): Promise<string> => {
      const answered = once(child, 'message')
      child.send({ text, number: number++ })
      const [{ out, error }] = (await answered) as [{ out?: string; error?: string }]
      if (out === undefined) throw new Error(error)
      return out
    },
    close: async () => {
      const ended = once(child, 'exit')
      child.disconnect()
      child.kill()
      await ended
    },
  }
}

/** Runs a program in a folder with a person's credentials, and returns everything it writes. */
export function runProgram(
  command: readonly [program: string, ...args: string[]],
  { folder, person, deskToken = '' }: Place,
): Promise<string> {
  const [program, ...args] = command
  const env = environmentOf(person, deskToken)
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
