/** A storage (folder) of a compound file, with its streams and storages by name. */
export type Storage = {
  streams: ReadonlyMap<string, Stream>
  storages: ReadonlyMap<string, Storage>
}

/** A stream (file) inside a compound file. */
export type Stream = {
  bytes: number
  /** Undefined when the data is incomplete, or when reading it exceeds the limit on bytes read. */
  read: () => Buffer | undefined
}

type Sectors = {
  bytes: Buffer
  sectorBytes: number
  count: number
  /** Returns the sector that follows a sector in its chain. */
  next: (sector: number) => number
}

type DirectoryEntry = {
  name: string
  kind: number
  left: number
  right: number
  child: number
  start: number
  size: number
}

const signature = Buffer.from('d0cf11e0a1b11ae1', 'hex')
const headerBytes = 512
const entryBytes = 128
const inHeaderMax = 109
const endOfChain = 0xfffffffe
const noEntry = 0xffffffff
const storageKind = 1
const streamKind = 2
const rootKind = 5
const depthMax = 12
const entriesMax = 50_000
const miniSectorBytes = 64
const miniStreamMax = 4096

export function looksCompound(bytes: Buffer): boolean {
  return bytes.subarray(0, signature.length).equals(signature)
}

/**
 * Reads the root storage of a compound file (MS-CFB); undefined when the file is damaged. Safe for
 * hostile files: looping chains, looping trees and sizes beyond the end of the file stop the
 * reading, and all streams together yield at most twice the bytes of the file, even if they
 * overlap.
 */
export function readCompoundFile(bytes: Buffer): Storage | undefined {
  const sectors = sectorsOf(bytes)
  if (!sectors) return undefined
  const directory = readChain(sectors, bytes.readUInt32LE(48))
  const entries = directory && directoryEntries(directory)
  const [root] = entries ?? []
  if (!entries || root?.kind !== rootKind) return undefined
  const read = streamReader(sectors, root, bytes)
  return storageOf(root, { entries, read, seen: new Set([0]) }, 0)
}

function sectorsOf(bytes: Buffer): Sectors | undefined {
  if (bytes.length < headerBytes || !looksCompound(bytes)) return undefined
  const shift = bytes.readUInt16LE(30)
  if (shift !== 9 && shift !== 12) return undefined
  const sectorBytes = 2 ** shift
  const count = Math.ceil(bytes.length / sectorBytes) - 1
  const bare: Sectors = { bytes, sectorBytes, count, next: () => endOfChain }
  const table = tableSectors(bare)
  if (!table) return undefined
  const perSector = sectorBytes / 4
  const next = (sector: number): number => {
    const home = table[Math.floor(sector / perSector)]
    const at = home === undefined ? -1 : (home + 1) * sectorBytes + (sector % perSector) * 4
    return at >= 0 && at + 4 <= bytes.length ? bytes.readUInt32LE(at) : endOfChain
  }
  return { ...bare, next }
}

/**
 * Lists the sectors of the allocation table. The header names the first 109; a chain of sectors
 * names the rest.
 */
function tableSectors({ bytes, sectorBytes, count }: Sectors): number[] | undefined {
  const table: number[] = []
  const needed = Math.min(bytes.readUInt32LE(44), Math.ceil(count / (sectorBytes / 4)) + 1)
  for (let at = 0; at < inHeaderMax && table.length < needed; at++) {
    const sector = bytes.readUInt32LE(76 + at * 4)
    if (sector < count) table.push(sector)
  }
  let sector = bytes.readUInt32LE(68)
  for (let steps = 0; sector < count && table.length < needed; steps++) {
    if (steps > count) return undefined
    const start = (sector + 1) * sectorBytes
    if (start + sectorBytes > bytes.length) return undefined
    for (let at = start; at < start + sectorBytes - 4 && table.length < needed; at += 4) {
      const named = bytes.readUInt32LE(at)
      if (named < count) table.push(named)
    }
    sector = bytes.readUInt32LE(start + sectorBytes - 4)
  }
  return table
}

/** Concatenates the sectors of a chain. Undefined when the chain loops or leaves the file. */
function readChain(sectors: Sectors, start: number, bytesMax = Infinity): Buffer | undefined {
  const { bytes, sectorBytes, count, next } = sectors
  const pieces: Buffer[] = []
  let read = 0
  for (let sector = start; sector !== endOfChain && read < bytesMax; sector = next(sector)) {
    if (sector >= count || pieces.length >= count) return undefined
    pieces.push(bytes.subarray((sector + 1) * sectorBytes, (sector + 2) * sectorBytes))
    read += sectorBytes
  }
  return Buffer.concat(pieces)
}

function directoryEntries(directory: Buffer): DirectoryEntry[] | undefined {
  const count = Math.floor(directory.length / entryBytes)
  if (count > entriesMax) return undefined
  return Array.from({ length: count }, (_, index) => {
    const entry = directory.subarray(index * entryBytes, (index + 1) * entryBytes)
    const nameBytes = Math.min(64, Math.max(2, entry.readUInt16LE(64))) - 2
    return {
      name: entry.toString('utf16le', 0, nameBytes),
      kind: entry.readUInt8(66),
      left: entry.readUInt32LE(68),
      right: entry.readUInt32LE(72),
      child: entry.readUInt32LE(76),
      start: entry.readUInt32LE(116),
      size: entry.readUInt32LE(120),
    }
  })
}

type Tree = {
  entries: readonly DirectoryEntry[]
  read: (entry: DirectoryEntry) => Buffer | undefined
  seen: Set<number>
}

/**
 * Reads the entries of a storage, which form a binary tree. Skips an entry that was already
 * visited, so that a tree with a loop ends.
 */
function storageOf(storage: DirectoryEntry, tree: Tree, depth: number): Storage {
  const streams = new Map<string, Stream>()
  const storages = new Map<string, Storage>()
  const open = [storage.child]
  while (open.length > 0) {
    const index = open.pop() ?? noEntry
    const entry = tree.entries[index]
    if (!entry || tree.seen.has(index)) continue
    tree.seen.add(index)
    open.push(entry.right, entry.left)
    if (entry.kind === streamKind) {
      streams.set(entry.name, { bytes: entry.size, read: () => tree.read(entry) })
    } else if (entry.kind === storageKind && depth < depthMax) {
      storages.set(entry.name, storageOf(entry, tree, depth + 1))
    }
  }
  return { streams, storages }
}

function streamReader(sectors: Sectors, root: DirectoryEntry, bytes: Buffer) {
  let budget = bytes.length * 2
  const mini = miniReader(sectors, root, bytes)
  return ({ start, size }: DirectoryEntry): Buffer | undefined => {
    if (size === 0) return Buffer.alloc(0)
    if (size > bytes.length || size > budget) return undefined
    budget -= size
    const content = size < miniStreamMax ? mini(start, size) : readChain(sectors, start, size)
    return content && content.length >= size ? content.subarray(0, size) : undefined
  }
}

/**
 * Reads streams shorter than 4096 bytes, which are stored in 64-byte sectors inside the root's
 * stream.
 */
function miniReader(sectors: Sectors, root: DirectoryEntry, bytes: Buffer) {
  let known: { content: Buffer; table: Buffer } | undefined
  return (start: number, size: number): Buffer | undefined => {
    known ??= {
      content: readChain(sectors, root.start) ?? Buffer.alloc(0),
      table: readChain(sectors, bytes.readUInt32LE(60)) ?? Buffer.alloc(0),
    }
    const { content, table } = known
    const pieces: Buffer[] = []
    let sector = start
    while (pieces.length * miniSectorBytes < size) {
      const at = sector * miniSectorBytes
      if (at >= content.length) return undefined
      pieces.push(content.subarray(at, at + miniSectorBytes))
      sector = sector * 4 + 4 <= table.length ? table.readUInt32LE(sector * 4) : endOfChain
    }
    return Buffer.concat(pieces)
  }
}
