import { styleText } from 'node:util'

/** One line that is updated while a step is running. */
export type Step = {
  /** Shows the progress: `done` of `total`. */
  at: (done: number, total: number) => void
  /** Ends the line with a check mark and the time it took. */
  done: () => void
  /** Ends the line with a cross. */
  failed: () => void
}

/** The destination of progress output, and its abilities. */
export type Screen = { out: NodeJS.WriteStream; isLive: boolean }

type Style = Parameters<typeof styleText>[0]

const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'
const FRAME_MS = 80
const BAR_CELLS = 20

/** Opens a screen. A terminal is redrawn; any other screen gets one plain line per step. */
export function openScreen(out: NodeJS.WriteStream): Screen {
  return { out, isLive: out.isTTY && process.env['TERM'] !== 'dumb' }
}

/** Formats text in a style, if the screen shows colors and NO_COLOR is not set. */
export function paint({ out }: Screen, style: Style, text: string): string {
  return styleText(style, text, { stream: out })
}

/** Starts a step: shows a spinner on a terminal, and elsewhere nothing until its end. */
export function beginStep(screen: Screen, name: string): Step {
  const startedAt = performance.now()
  let [bar, frame] = ['', 0]
  const draw = (mark: string, rest: string, end: string) => {
    const clear = screen.isLive ? '\r\x1b[2K' : ''
    screen.out.write(`${clear}  ${mark} ${name.padEnd(48)}${rest}${end}`)
  }
  const spin = () => {
    frame = (frame + 1) % FRAMES.length
    draw(paint(screen, 'cyan', FRAMES[frame] ?? ''), bar, '')
  }
  const timer = screen.isLive ? setInterval(spin, FRAME_MS) : undefined
  if (screen.isLive) spin()
  const end = (mark: string) => {
    clearInterval(timer)
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    draw(mark, paint(screen, 'dim', `${seconds} s`), '\n')
  }
  return {
    at(done, total) {
      const full = Math.round((done / total) * BAR_CELLS)
      bar = `${'█'.repeat(full)}${'░'.repeat(BAR_CELLS - full)} ${done}/${total}`
    },
    done: () => end(paint(screen, 'green', '✓')),
    failed: () => end(paint(screen, 'red', '✗')),
  }
}
