// Loaded before the program: its clock is wrong by TORTURE_SKEW_MS milliseconds.
const skewMs = Number(process.env['TORTURE_SKEW_MS'])
const TrueDate = Date

class SkewedDate extends TrueDate {
  constructor(...given: [] | [number | string | Date]) {
    if (given.length === 0) super(TrueDate.now() + skewMs)
    else super(...given)
  }

  static override now(): number {
    return TrueDate.now() + skewMs
  }
}

globalThis.Date = SkewedDate as DateConstructor

export {}
