/** The picture of README, made anew: the session is played, and its lines light up in the order they were printed. */
import { draw, type TimedLine } from './draw.ts'
import { screenLines } from './screen.ts'
import { playSession } from './session.ts'

const columns = 100
const title = 'An agent makes two steps, its work lands beside uncommitted edits, and undo takes it back'

export function makePicture(): string {
  const lines: TimedLine[] = []
  let clock = 0
  const show = (spans: TimedLine['spans'], pause: number) => {
    clock += pause
    lines.push({ spans, at: clock })
  }
  for (const { note, command, output } of playSession(columns)) {
    if (note !== undefined) {
      if (lines.length > 0) show([], 0)
      show([{ column: 0, text: `# ${note}`, dim: true }], 0.4)
    }
    const typed = { column: 2, text: command, bold: true }
    show([{ column: 0, text: '$', color: 'cyan' }, typed], 0.2)
    for (const spans of screenLines(output, columns)) show(spans, 0.12)
  }
  return draw(title, lines, columns)
}
