const benchmarks: Record<string, () => Promise<void>> = {
  intake: async () => (await import('./bench/intake.ts')).benchIntake(),
  pipeline: async () => (await import('./bench/pipeline.ts')).benchPipeline(),
  backlog: async () => (await import('./bench/backlog.ts')).benchBacklog(),
  growth: async () => (await import('./bench/growth.ts')).benchGrowth(),
  idle: async () => (await import('./bench/idle.ts')).benchIdle(),
  citus: async () => (await import('./bench/citus.ts')).benchCitus(),
  walk: async () => (await import('./bench/walk.ts')).benchWalk(),
  soak: async () => (await import('./bench/soak.ts')).benchSoak(),
  counters: async () => (await import('./bench/counters.ts')).benchCounters(),
  check: async () => (await import('./bench/check.ts')).benchCheck(),
  pages: async () => (await import('./bench/pages.ts')).benchPages(),
  bombs: async () => (await import('./bench/bombs.ts')).benchBombs(),
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
