import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { type ImportOptions, importNetworks } from '../../../src/processes/import-networks.ts'
import { UsageError } from '../../../src/errors.ts'
import { closeAfterTests, makeTestFolder } from '../../support/after-tests.ts'
import { freshDatabase } from '../../support/database.ts'
import { composeMmdb } from '../../support/mmdb.ts'

const database = await closeAfterTests(freshDatabase())
const folder = await makeTestFolder()

const header = 'cidr,asn,name,country,abuse'
const clock = () => new Date('2026-11-20T12:00:00Z')

async function load(name: string, text: string | Buffer, options: ImportOptions = {}) {
  const file = path.join(folder, name)
  await writeFile(file, text)
  return importNetworks(file, { pool: database.pool, clock }, options)
}

async function keptFrom(source: string) {
  const { rows } = await database.pool.query<Record<string, unknown>>(
    `select cidr::text, asn, name, country, abuse from networks
     where source = $1 order by cidr`,
    [source],
  )
  return rows
}

async function problemsOf(text: string | Buffer): Promise<readonly string[]> {
  try {
    await load('bad.csv', text)
    return []
  } catch (error) {
    if (error instanceof UsageError) return error.problems
    throw error
  }
}

test('the bundled sample has a contact for each documentation range', async () => {
  const file = path.join(import.meta.dirname, '../../../src/db/sample-networks.csv')
  const done = await importNetworks(file, { pool: database.pool, clock })
  expect(done).toMatchObject({ source: 'sample-networks.csv', ranges: 5, blocks: 5 })
  expect(await keptFrom('sample-networks.csv')).toContainEqual({
    cidr: '198.51.100.128/25',
    asn: 64498,
    name: 'Example Cloud Three, Ltd.',
    country: 'GB',
    abuse: 'abuse@cloud-three.example',
  })
})

test.for([
  ['commas', 'a.csv', `${header}\n192.0.2.0/24,AS64496,One,fr,abuse@one.example\n`],
  [
    'tabs',
    'b.tsv',
    'cidr\tasn\tname\tcountry\tabuse\n192.0.2.0/24\t64496\tOne\tFR\tabuse@one.example',
  ],
  [
    'a byte order mark and CRLF',
    'c.csv',
    `\uFEFF${header}\r\n192.0.2.0/24,64496,One,FR,abuse@one.example\r\n`,
  ],
  [
    'another order, and more columns',
    'd.csv',
    'abuse,Note,CIDR,name,asn,country\nabuse@one.example,x,192.0.2.0/24,One,64496,FR',
  ],
  [
    'comments and empty lines',
    'e.csv',
    `# a\n\n${header}\n\n# b\n192.0.2.0/24,64496,One,FR,abuse@one.example`,
  ],
  ['a range', 'f.csv', `${header}\n192.0.2.0 - 192.0.2.255,64496,One,FR,abuse@one.example`],
  ['bits beyond the prefix', 'g.csv', `${header}\n192.0.2.77/24,64496,One,FR,abuse@one.example`],
] as const)('a table with %s is imported', async ([, name, text]) => {
  expect(await load(name, text)).toMatchObject({ source: name, ranges: 1, blocks: 1 })
  expect(await keptFrom(name)).toEqual([
    { cidr: '192.0.2.0/24', asn: 64496, name: 'One', country: 'FR', abuse: 'abuse@one.example' },
  ])
})

test('a range that is not a block becomes the fewest possible blocks', async () => {
  const row = '198.51.100.1-198.51.100.4,,,,'
  expect(await load('range.csv', `${header}\n${row}`)).toMatchObject({ ranges: 1, blocks: 3 })
  const kept = await keptFrom('range.csv')
  expect(kept.map(({ cidr }) => cidr)).toEqual([
    '198.51.100.1/32',
    '198.51.100.2/31',
    '198.51.100.4/32',
  ])
})

test('empty cells are unknown, and quotes may contain commas and quotes', async () => {
  await load('quotes.csv', `${header}\n2001:db8::/32,,"Say ""hi"", Ltd.",,\n192.0.2.0/24,,,,`)
  expect(await keptFrom('quotes.csv')).toEqual([
    { cidr: '192.0.2.0/24', asn: null, name: null, country: null, abuse: null },
    { cidr: '2001:db8::/32', asn: null, name: 'Say "hi", Ltd.', country: null, abuse: null },
  ])
})

test('of two lines for one block the last counts', async () => {
  await load('twice.csv', `${header}\n192.0.2.0/24,1,a,,\n192.0.2.9/24,2,b,,`)
  expect(await keptFrom('twice.csv')).toMatchObject([{ asn: 2, name: 'b' }])
})

test('the second file of a name replaces the first', async () => {
  await load('again.csv', `${header}\n192.0.2.0/24,1,a,,\n198.51.100.0/24,1,a,,`)
  await load('again.csv', `${header}\n192.0.2.0/24,2,b,,`)
  expect(await keptFrom('again.csv')).toMatchObject([{ cidr: '192.0.2.0/24', name: 'b' }])
})

test.for([
  ['no block', 'example.com,,,,', '"example.com" is neither a CIDR nor a range first-last.'],
  ['a prefix too long', '192.0.2.0/33,,,,', /neither a CIDR/],
  ['a range backwards', '192.0.2.9-192.0.2.1,,,,', /neither a CIDR/],
  ['a range across families', '192.0.2.9-2001:db8::1,,,,', /neither a CIDR/],
  ['no AS number', '192.0.2.0/24,ASX,,,', '"ASX" is not an AS number.'],
  ['no country', '192.0.2.0/24,,,FRA,', '"FRA" is not a country code.'],
  ['no mail address', '192.0.2.0/24,,,,abuse', '"abuse" is not a mail address.'],
  ['two mail addresses', '192.0.2.0/24,,,,"a@b.example,c@d.example"', /not a mail address/],
  ['a header hidden in an address', '192.0.2.0/24,,,,"a@b.example>\tx"', /neither|not a mail/],
] as const)('a line with %s is reported, and nothing is stored', async ([, row, problem]) => {
  const problems = await problemsOf(`${header}\n192.0.2.0/25,1,good,,\n${row}`)
  expect(problems).toHaveLength(2)
  expect(problems[0]).toMatch(/^Line 3: /)
  expect(problems[0]?.slice('Line 3: '.length)).toMatch(problem)
  expect(problems[1]).toBe('Nothing was imported.')
  expect(await keptFrom('bad.csv')).toEqual([])
})

test('an invalid second file keeps the first', async () => {
  await load('stays.csv', `${header}\n192.0.2.0/24,1,a,,`)
  await expect(load('stays.csv', `${header}\nnonsense,,,,`)).rejects.toThrow(UsageError)
  expect(await keptFrom('stays.csv')).toHaveLength(1)
})

test.for([
  ['an empty file', '', 'The file is empty.'],
  ['only comments', '# a\n# b\n', 'The format of the file is unknown. Name it with --format.'],
  ['another header', 'start,end\n1,2', 'The format of the file is unknown. Name it with --format.'],
  ['only a header', header, 'The file contains no networks.'],
  ['a file of bytes', '\u0000\u0001\u0002', 'Network 1: the file has no MaxMind metadata.'],
] as const)('%s is not a table', async ([, text, problem]) => {
  expect((await problemsOf(text))[0]).toMatch(problem)
})

test('a file full of errors is given up after twenty', async () => {
  const problems = await problemsOf(`${header}\n${'x,,,,\n'.repeat(1_000)}`)
  expect(problems).toHaveLength(21)
})

test('a missing file is reported', async () => {
  const gone = importNetworks(path.join(folder, 'gone.csv'), { pool: database.pool, clock })
  await expect(gone).rejects.toThrow(/Cannot read .*gone\.csv/)
})

const asTable = [
  '192.0.2.0\t192.0.2.255\t64496\tFR\tEXAMPLE - Example, Ltd.',
  '198.51.100.0\t198.51.100.255\t0\tNone\tNot routed',
  '2001:db8::\t2001:db8:ffff:ffff:ffff:ffff:ffff:ffff\t64497\tDE\tSIX',
].join('\n')
const fromAs = [
  { cidr: '192.0.2.0/24', asn: 64_496, name: 'EXAMPLE - Example, Ltd.', country: 'FR' },
  { cidr: '2001:db8::/32', asn: 64_497, name: 'SIX', country: 'DE' },
]

test('an IP-to-AS table is detected by its lines; unrouted ranges are skipped', async () => {
  const done = await load('ip2asn.tsv', asTable)
  expect(done).toMatchObject({ format: 'ip2asn', ranges: 2, blocks: 2, skipped: 1 })
  expect(await keptFrom('ip2asn.tsv')).toMatchObject(fromAs)
})

test('a compressed table is unpacked, and has the name of the uncompressed one', async () => {
  await load('packed.tsv', asTable)
  const done = await load('packed.tsv.gz', gzipSync(asTable.slice(0, asTable.indexOf('\n'))))
  expect(done).toMatchObject({ source: 'packed.tsv', format: 'ip2asn', blocks: 1 })
  expect(await keptFrom('packed.tsv')).toHaveLength(1)
})

test('statistics of a registry have countries', async () => {
  const text = [
    '2|ripencc|1795000000|2|19830705|20261119|+0100',
    'ripencc|*|ipv4|*|1|summary',
    'ripencc|FR|ipv4|198.51.100.0|192|20100712|allocated|abc',
    'ripencc|FR|asn|64496|1|20100712|allocated|abc',
  ].join('\n')
  const done = await load('delegated-ripencc-extended-latest', text)
  expect(done).toMatchObject({ format: 'rir', ranges: 1, blocks: 2, skipped: 3 })
  expect(await keptFrom('delegated-ripencc-extended-latest')).toMatchObject([
    { cidr: '198.51.100.0/25', country: 'FR', asn: null, abuse: null },
    { cidr: '198.51.100.128/26', country: 'FR', asn: null, abuse: null },
  ])
})

test('a MaxMind file is detected by its bytes, compressed or not', async () => {
  const record = { autonomous_system_number: 64_496, autonomous_system_organization: 'Example' }
  const bytes = composeMmdb(
    [
      ['192.0.2.0/24', record],
      ['2001:db8::/32', record],
    ],
    { aliases: ['2002::/16', '::ffff:0:0/96'] },
  )
  expect(await load('asn.mmdb', bytes)).toMatchObject({ format: 'mmdb', ranges: 2, blocks: 2 })
  expect(await load('asn.mmdb.gz', gzipSync(bytes))).toMatchObject({
    source: 'asn.mmdb',
    blocks: 2,
  })
  expect(await keptFrom('asn.mmdb')).toMatchObject([
    { cidr: '192.0.2.0/24', asn: 64_496, name: 'Example' },
    { cidr: '2001:db8::/32', asn: 64_496, name: 'Example' },
  ])
})

test('several contacts are stored in order, the abuse address first', async () => {
  const row = '192.0.2.0/24,1,a,,b@net.example,"a@net.example,b@net.example"'
  await load('contacts.csv', `${header},contacts\n${row}`)
  const { rows } = await database.pool.query<{ abuse: string; contacts: string[] }>(
    `select abuse, contacts from networks where source = 'contacts.csv'`,
  )
  expect(rows).toEqual([{ abuse: 'b@net.example', contacts: ['b@net.example', 'a@net.example'] }])
})

test('a name given with --as is the source', async () => {
  const done = await load('november.tsv', asTable, { source: 'ip2asn weekly' })
  expect(done.source).toBe('ip2asn weekly')
  expect(await keptFrom('ip2asn weekly')).toHaveLength(2)
  expect(await keptFrom('november.tsv')).toEqual([])
})

test.for<[file: string, source: string | undefined]>([
  ['manual', undefined],
  ['registry', undefined],
  ['x.csv', 'manual'],
  ['x.csv', 'registry'],
  ['x.csv', ''],
  ['x.csv', 'a\nb'],
])('the file %s under the name %j is refused', async ([file, source]) => {
  const refused = load(file, `${header}\n192.0.2.0/24,1,a,,`, { source })
  await expect(refused).rejects.toThrow(UsageError)
})

test.for([
  ['an IP-to-AS table', `${asTable}\nhere\tthere\t1\tFR\tX\n`, /^Line 4: .*not a range/],
  ['statistics', '2|ripencc|1|1|1|1|1\nripencc|FR|ipv4|x|1|1|allocated', /^Line 2: .*not a range/],
  ['a MaxMind file', composeMmdb([['192.0.2.0/24', 'x']]), /^Network 1: .*damaged/],
  ['a packed file cut short', gzipSync(asTable).subarray(0, 60), /^Cannot read .*bad\.csv/],
  ['a line without end', `${header}\n${'x'.repeat(300_000)}`, /^Line 2 is too long/],
] as const)(
  'an error in %s is reported, and the existing data stays',
  async ([, bytes, problem]) => {
    await load('bad.csv', `${header}\n192.0.2.0/24,1,a,,`)
    expect((await problemsOf(Buffer.from(bytes)))[0]).toMatch(problem)
    expect(await keptFrom('bad.csv')).toMatchObject([{ name: 'a' }])
  },
)

test('a given format is not guessed', async () => {
  await expect(load('said.csv', asTable, { format: 'rir' })).rejects.toThrow(/seven cells/)
})

test('thousands of lines are imported piece by piece, with progress', async () => {
  const lines = Array.from({ length: 12_000 }, (_, n) => {
    const block = `10.${n >> 8}.${n & 255}`
    return `${block}.0\t${block}.255\t${n + 1}\tFR\tNETWORK-${n}`
  })
  const told: number[] = []
  const done = await load('large.tsv', lines.join('\n'), { tell: (ranges) => told.push(ranges) })
  expect(done).toMatchObject({ ranges: 12_000, blocks: 12_000 })
  expect(told.length).toBeGreaterThan(3)
  expect(told).toEqual(told.toSorted((a, b) => a - b))
  const kept = await keptFrom('large.tsv')
  expect(kept.find(({ asn }) => asn === 12_000)).toMatchObject({ cidr: '10.46.223.0/24' })
})

test('a contact for more than any holding is an error with its line', async () => {
  const desk = ',,,,abuse@one.example'
  const rows = ['0.0.0.0/0', '10.0.0.0/7', '10.0.0.0/8', '2000::/11', '2000::/12', '1.0.0.0/8']
  expect(await problemsOf([header, ...rows.map((row) => row + desk)].join('\n'))).toEqual([
    'Line 2: 0.0.0.0/0 is too wide for one abuse contact.',
    'Line 3: 10.0.0.0/7 is too wide for one abuse contact.',
    'Line 5: 2000:0:0:0:0:0:0:0/11 is too wide for one abuse contact.',
    'Nothing was imported.',
  ])
  expect(await problemsOf(`${header}\n0.0.0.0/0,,Everything,,`)).toEqual([])
})
