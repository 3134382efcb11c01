import type { HtmlView } from './html-view.ts'

/** Fewer cells without a text cannot be a QR code, whose runs may be one cell each. */
const CELLS_MIN = 150
/** Modules of the smallest and the largest QR code on a side (ISO/IEC 18004, 5.3.1). */
const SIDE = { min: 21, max: 177 }
const PICTURES_MAX = 4
const CELLS_MAX = 100_000
const NESTING_MAX = 20
const MODULE_PIXELS = 4
/** White modules around a code. */
const MARGIN = 4

type Cell = { isDark: boolean | undefined; span: number; width: number }
type Row = { isDark: boolean | undefined; cells: Cell[] }
type Table = { isDark: boolean | undefined; rows: Row[] }
type Shades = ReadonlyMap<string, boolean>

/**
 * Draws the tables of a page whose cells are the modules of a QR code: as gray pictures (PGM), at
 * most four. Linear time; nothing is read if the page has few cells without a text.
 */
export function cellPictures(html: string, { cells, styleSheet }: HtmlView): Buffer[] {
  if (cells < CELLS_MIN) return []
  const shades = shadesIn(styleSheet)
  const pictures: Buffer[] = []
  const open: Table[] = []
  let count = 0
  for (const [, slash, written = '', attributes = ''] of html.matchAll(tableTag)) {
    const name = written.toLowerCase()
    const table = open.at(-1)
    if (++count > CELLS_MAX || pictures.length >= PICTURES_MAX) break
    if (name === 'table') {
      const done = slash ? open.pop() : undefined
      const picture = done && drawn(done)
      if (picture) pictures.push(picture)
      if (!slash && open.length < NESTING_MAX)
        open.push({ isDark: shadeOf(attributes, shades), rows: [] })
    } else if (slash || !table) continue
    else if (name === 'tr') table.rows.push({ isDark: shadeOf(attributes, shades), cells: [] })
    else table.rows.at(-1)?.cells.push(cellOf(attributes, shades))
  }
  // The end of a page may be missing.
  const rest = open.flatMap((table) => drawn(table) ?? [])
  return [...pictures, ...rest].slice(0, PICTURES_MAX)
}

const tableTag = /<(\/?)(table|tr|td|th)\b([^<>]{0,1000})>/gi

function cellOf(attributes: string, shades: Shades): Cell {
  const span = Number(/\bcolspan\s{0,9}=\s{0,9}["']?(\d{1,3})/i.exec(attributes)?.[1] ?? 1)
  const width = /\bwidth\s{0,9}[=:]\s{0,9}["']?(\d{1,4}(?:\.\d{1,9})?)/i.exec(attributes)?.[1]
  return { isDark: shadeOf(attributes, shades), span, width: Number(width ?? 0) }
}

/** Whether a color is dark; undefined if there is none. */
function shadeOf(attributes: string, shades: Shades): boolean | undefined {
  const styled = /\bbackground(?:-color)?\s{0,9}:([^;"']{1,200})/i.exec(attributes)?.[1]
  const color = styled ?? /\bbgcolor\s{0,9}=\s{0,9}["']?([^\s"'>]{1,30})/i.exec(attributes)?.[1]
  if (color !== undefined) return isDark(color)
  const names = /\bclass\s{0,9}=\s{0,9}["']?([^"'>]{1,100})/i.exec(attributes)?.[1] ?? ''
  return names
    .split(/\s+/)
    .map((name) => shades.get(name))
    .find((shade) => shade !== undefined)
}

function shadesIn(styleSheet: string): Shades {
  const shades = new Map<string, boolean>()
  for (const [, name = '', rule = ''] of styleSheet.matchAll(classRule).take(100)) {
    const shade = shadeOf(rule, shades)
    if (shade !== undefined) shades.set(name, shade)
  }
  return shades
}

const classRule = /\.([\w-]{1,40})[^{}]{0,100}\{([^{}]{1,500})\}/g
const darkNames =
  /\b(?:black|navy|maroon|indigo|purple|midnightblue|dark(?:blue|red|green|slategr[ae]y))\b/i

function isDark(color: string): boolean {
  const [, hex = ''] = /#([\da-f]{3,8})/i.exec(color) ?? []
  const long = hex.length < 6 ? hex.replace(/./g, '$&$&') : hex
  const parts = hex === '' ? /rgba?\(([^)]{1,50})/i.exec(color)?.[1]?.split(/[\s,/]+/) : undefined
  const [red, green, blue] = parts
    ? parts.map(Number)
    : [0, 2, 4].map((at) => Number.parseInt(long.slice(at, at + 2), 16))
  if (red === undefined || green === undefined || blue === undefined || Number.isNaN(red)) {
    return darkNames.test(color)
  }
  return red * 0.299 + green * 0.587 + blue * 0.114 < 128
}

/** Draws a table of which all rows have the same width; undefined for others. */
function drawn({ isDark: ofTable, rows: all }: Table): Buffer | undefined {
  const rows = all.filter(({ cells }) => cells.length > 0)
  if (rows.length < SIDE.min || rows.length > SIDE.max + 2 * MARGIN) return undefined
  const widths = rows
    .flatMap(({ cells }) => cells.map(({ width }) => width))
    .filter((one) => one > 0)
  const unit = widths.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY)
  const bySpan = rows.map((row) => modulesOf(row, ofTable, ({ span }) => span))
  const byWidth = () =>
    rows.map((row) => modulesOf(row, ofTable, ({ width }) => Math.round(width / unit)))
  const modules = [bySpan, byWidth()].find(isSquare)
  return modules && pictureOf(modules)
}

function modulesOf(row: Row, ofTable: boolean | undefined, units: (cell: Cell) => number) {
  const modules: boolean[] = []
  for (const cell of row.cells) {
    const count = Math.min(units(cell), SIDE.max + 2 * MARGIN - modules.length)
    const shade = cell.isDark ?? row.isDark ?? ofTable ?? false
    for (let at = 0; at < count; at++) modules.push(shade)
  }
  return modules
}

/** Whether rows are equally long, about as long as they are many, and of both shades. */
function isSquare(rows: readonly boolean[][]): boolean {
  const [{ length } = []] = rows
  const isWide = length >= SIDE.min && Math.abs(length - rows.length) <= 2 * MARGIN
  return (
    isWide &&
    rows.every((row) => row.length === length) &&
    [true, false].every((shade) => rows.some((row) => row.includes(shade)))
  )
}

function pictureOf(rows: readonly boolean[][]): Buffer {
  const columns = rows[0]?.length ?? 0
  const width = (columns + 2 * MARGIN) * MODULE_PIXELS
  const height = (rows.length + 2 * MARGIN) * MODULE_PIXELS
  const pixels = Buffer.alloc(width * height, 255)
  for (const [y, row] of rows.entries()) {
    for (const [x, shade] of row.entries()) {
      if (!shade) continue
      const left = (x + MARGIN) * MODULE_PIXELS
      for (let line = 0; line < MODULE_PIXELS; line++) {
        const start = ((y + MARGIN) * MODULE_PIXELS + line) * width + left
        pixels.fill(0, start, start + MODULE_PIXELS)
      }
    }
  }
  return Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), pixels])
}
