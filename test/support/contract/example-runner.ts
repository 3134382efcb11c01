import process from 'node:process'
import { format } from 'node:util'

/** Runs each program in JavaScript that the parent process sends, and answers what it wrote. */
process.on('message', (program: { text: string; number: number }) => {
  void run(program).then((answer) => process.send?.(answer))
})

async function run({ text, number }: { text: string; number: number }) {
  const out: string[] = []
  console.log = (...written: unknown[]) => void out.push(format(...written))
  try {
    // The number makes an address of its own, because a module runs once per address.
    await import(`data:text/javascript,${encodeURIComponent(text)}#${number}`)
    return { out: out.join('\n') }
  } catch (error) {
    return { error: String(error) }
  }
}
