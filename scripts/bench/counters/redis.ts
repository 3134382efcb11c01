import { pipelined } from './pipelining.ts'
import { withReferenceServer } from './reference-server.ts'
import { keyOf, zipf } from './stage.ts'

/**
 * Returns how many `HINCRBY` per second one pipelining client gets from a Redis that syncs every
 * second, on keys by Zipf's law. Undefined if Redis is not installed.
 */
export async function benchRedis(seconds: number, keys: number): Promise<number | undefined> {
  const durable = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', '']
  return withReferenceServer(
    'redis-server',
    (port, folder) => ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, ...durable],
    async (socket) => {
      const requests = (count: number) => {
        let commands = ''
        for (let made = 0; made < count; made++) commands += incrementOf(keyOf(zipf(keys)))
        return commands
      }
      const perSecond = await pipelined(socket, { requests, count: answersIn, seconds })
      console.log(`Redis, everysec: ${Math.round(perSecond).toLocaleString('en')} HINCRBY/s`)
      return perSecond
    },
  )
}

function incrementOf({ hi, lo }: { hi: number; lo: number }): string {
  const key = `${hi.toString(36)}${lo.toString(36)}`
  return `*4\r\n$7\r\nHINCRBY\r\n$${key.length}\r\n${key}\r\n$1\r\ns\r\n$1\r\n1\r\n`
}

/** Counts the answers in received bytes. Each is an integer, which begins with a colon. */
function answersIn(data: Buffer): number {
  let answers = 0
  for (const byte of data) if (byte === 58) answers++
  return answers
}
