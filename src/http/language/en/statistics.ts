import { number, plural } from '../plural.ts'

const n = (value: number) => number('en', value)

/** What the page of one's own statistics says, in English. */
export const statisticsEn = {
  title: 'My statistics',
  lead:
    'What your reports come to. Days are days in UTC. What happened in the last minutes may be ' +
    'missing, on days with very many reports up to an hour.',
  none: 'There is nothing to count yet.',
  howMany: 'How much you reported',
  charts: { day: 'The last 30 days, by day', week: 'The last 12 months, by week' },
  whatBecame: 'What became of it',
  periods: ['The last 30 days', 'The last 12 months'] as [string, string],
  reports: (total: number) => plural('en', total, { one: '# report', other: '# reports' }),
  became: {
    told: 'Somebody was told',
    kept: 'Nobody was told',
    asked: 'We have a question',
    waiting: 'Not finished yet',
    retracted: 'You took it back',
  },
  mails: (mails: number) =>
    plural('en', mails, {
      one: 'In all, # report of ours reached an abuse desk.',
      other: 'In all, # reports of ours reached abuse desks.',
    }),
  answered: (answered: number, told: number) =>
    `Of the ${n(told)} that somebody was told, ${n(answered)} were answered.`,
  whereFrom: 'Where it came from',
  whereFromHelp: 'In the last 30 days, where we could tell, without what you took back.',
  noOrigins: 'In the last 30 days we could not tell of any of them.',
  countries: 'Countries of the networks',
  networks: 'Networks',
  together: 'How many others reported the same',
  campaigns: (large: number, latest: number, reportsMin: number) =>
    `Of your latest ${n(latest)} reports, ${n(large)} belong to campaigns that were reported at ` +
    `least ${n(reportsMin)} times.`,
}
