import { writeFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import path from 'node:path'
import { pipelined } from './pipelining.ts'
import { withReferenceServer } from './reference-server.ts'
import { keyOf, zipf } from './stage.ts'

const SPACE = 512
const GREETING_BYTES = 128
const MEMORY = 2 ** 30

/**
 * Returns how many `upsert` per second (a key's counter plus one) one pipelining client gets from a
 * Tarantool that writes its log. Undefined if it is not installed.
 */
export async function benchTarantool(seconds: number, keys: number): Promise<number | undefined> {
  return withReferenceServer(
    'tarantool',
    async (port, folder) => {
      const script = path.join(folder, 'counters.lua')
      await writeFile(script, scriptOf(port, folder))
      return [script]
    },
    async (socket) => {
      const perSecond = await drive(socket, seconds, keys)
      console.log(`Tarantool, log written: ${Math.round(perSecond).toLocaleString('en')} upserts/s`)
      return perSecond
    },
  )
}

function scriptOf(port: number, folder: string): string {
  return `box.cfg{work_dir = '${folder}', wal_mode = 'write', memtx_memory = ${MEMORY},
  log = 'tarantool.log'}
local space = box.schema.space.create('counters', {id = ${SPACE}})
space:create_index('primary', {type = 'hash', parts = {1, 'unsigned'}})
box.schema.user.grant('guest', 'read,write', 'universe')
box.cfg{listen = '127.0.0.1:${port}'}
`
}

/** Sends requests and counts the answers. Each answer begins with its length in five bytes. */
function drive(socket: Socket, seconds: number, keys: number): Promise<number> {
  let left = GREETING_BYTES
  let rest: Buffer = Buffer.alloc(0)
  const count = (data: Buffer): number => {
    let answers = 0
    rest = rest.length > 0 ? Buffer.concat([rest, data]) : data
    for (;;) {
      if (left > 0) {
        const skipped = Math.min(left, rest.length)
        rest = rest.subarray(skipped)
        left -= skipped
        if (left > 0) return answers
      }
      // After the length comes a map whose first value is the code: 0 for success.
      if (rest.length < 12) return answers
      if (rest.readUInt32BE(8) !== 0) {
        throw new Error(`Tarantool refused: ${rest.toString('latin1', 12)}`)
      }
      left = 5 + rest.readUInt32BE(1)
      answers++
    }
  }
  const requests = (wanted: number) =>
    Buffer.concat(Array.from({ length: wanted }, () => upsertOf(keyOf(zipf(keys)))))
  return pipelined(socket, { requests, count, seconds })
}

/** Composes an `upsert` of [key, 1] with "add 1 to the second field", in the IPROTO format. */
function upsertOf({ hi, lo }: { hi: number; lo: number }): Buffer {
  const bytes = Buffer.from(template)
  bytes.writeUInt32BE(lo, bytes.writeUInt32BE(hi, KEY_AT))
  return bytes
}

const head = Buffer.from([0x82, 0x00, 0x09, 0x01, 0x01])
const space = Buffer.from([0x84, 0x10, 0xcd, SPACE >> 8, SPACE & 255, 0x15, 0x01])
const tuple = Buffer.from([0x21, 0x92, 0xcf, 0, 0, 0, 0, 0, 0, 0, 0, 0x01])
const operations = Buffer.from([0x28, 0x91, 0x93, 0xa1, 0x2b, 0x02, 0x01])
const body = Buffer.concat([head, space, tuple, operations])
const template = Buffer.concat([Buffer.from([0xce, 0, 0, 0, body.length]), body])
const KEY_AT = 5 + head.length + space.length + 3
