import { mkdir } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { openSeeded } from './seeding/instance.ts'

// Creates a data folder with a year of reports, to view and measure pages.
const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    reports: { type: 'string', default: '1000000' },
  },
})
const reports = Number(values.reports)
if (values.data === undefined || !Number.isSafeInteger(reports) || reports < 1_000) {
  console.error('Usage: npm run seed -- --data FOLDER [--reports 1000000]')
  process.exit(2)
}
await mkdir(values.data, { recursive: true })
const seeded = await openSeeded({ dataDir: values.data, reports }, (said) => console.log(said))
await seeded.close()
console.log(`Done. Sign in as ${seeded.email} with the password "${seeded.password}".`)
