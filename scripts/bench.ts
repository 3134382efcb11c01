const benchmarks: Record<string, () => Promise<void>> = {
  intake: async () => (await import('./bench/intake.ts')).benchIntake(),
  pipeline: async () => (await import('./bench/pipeline.ts')).benchPipeline(),
  backlog: async () => (await import('./bench/backlog.ts')).benchBacklog(),
  growth: async () => (await import('./bench/growth.ts')).benchGrowth(),
  idle: async () => (await import('./bench/idle.ts')).benchIdle(),
  citus: async () => (await import('./bench/citus.ts')).benchCitus(),
  shingles: async () => (await import('./bench/shingles.ts')).benchShingles(),
  authenticate: async () => (await import('./bench/authenticate.ts')).benchAuthenticate(),
  links: async () => (await import('./bench/links.ts')).benchLinks(),
  pictures: async () => (await import('./bench/pictures.ts')).benchPictures(),
  walk: async () => (await import('./bench/walk.ts')).benchWalk(),
  soak: async () => (await import('./bench/soak.ts')).benchSoak(),
  counters: async () => (await import('./bench/counters.ts')).benchCounters(),
  reputations: async () => (await import('./bench/reputations.ts')).benchReputations(),
  model: async () => (await import('./bench/model.ts')).benchModel(),
  check: async () => (await import('./bench/check.ts')).benchCheck(),
  networks: async () => (await import('./bench/networks.ts')).benchNetworks(),
  facts: async () => (await import('./bench/facts.ts')).benchFacts(),
  rules: async () => (await import('./bench/rules.ts')).benchRules(),
  pages: async () => (await import('./bench/pages.ts')).benchPages(),
  search: async () => (await import('./bench/search.ts')).benchSearch(),
  limits: async () => (await import('./bench/limits.ts')).benchLimits(),
  bombs: async () => (await import('./bench/bombs.ts')).benchBombs(),
  sending: async () => (await import('./bench/sending/sending.ts')).benchSending(),
}

// The flags of a benchmark follow its name.
const words = process.argv.slice(2)
const flags = words.findIndex((word) => word.startsWith('--'))
const names = flags < 0 ? words : words.slice(0, flags)
const unknown = names.filter((name) => !Object.hasOwn(benchmarks, name))
if (names.length === 0 || unknown.length > 0) {
  console.error(`Usage: npm run bench ${Object.keys(benchmarks).join(' | ')}`)
  process.exit(2)
}
for (const name of names) await benchmarks[name]?.()
