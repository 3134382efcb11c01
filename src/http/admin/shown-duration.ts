const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const

/** Seconds in the two largest units that fit: `3 h 5 min`, `0 s`. */
export function shownDuration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  const first = units.findIndex(([, length]) => whole >= length)
  if (first < 0) return '0 s'
  let rest = whole
  const pieces = units.slice(first, first + 2).map(([unit, length]) => {
    const count = Math.floor(rest / length)
    rest -= count * length
    return count > 0 ? `${count} ${unit}` : ''
  })
  return pieces.filter(Boolean).join(' ')
}
