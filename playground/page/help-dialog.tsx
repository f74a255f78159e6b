import { Dialog } from '../ui/dialog.tsx'
import { shortcuts } from './shortcuts.ts'

/** Lists all keys and explains the marks. */
export function HelpDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keys and marks" onClose={onClose} isText>
      <div class="stack">
        <table class="keys">
          <tbody>
            {shortcuts.map(({ keys, does }) => (
              <tr key={keys}>
                <th scope="row">
                  {keys.split(' ').map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </th>
                <td>{does}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <h3>In lists and in the tree</h3>
        <p>
          Arrow keys move, Enter opens, Home and End go to the first and last row. In the tree, → unfolds and ← folds.
          In the tree, F2 renames, Delete deletes, Ctrl+C, Ctrl+X and Ctrl+V copy and move, Ctrl+D duplicates, Ctrl+Z
          takes the last action back, and Shift+F10 opens the menu of an entry. In the editor, Ctrl+F finds and
          replaces, Tab indents; Escape, then Tab, leaves it. In the terminal, Alt with ↑ or ↓ chooses a file or an
          address of the output, and Enter opens it. The lines between columns move with the arrow keys.
        </p>
        <h3>Marks</h3>
        <p>
          <span class="tree-mark added">A</span> added, <span class="tree-mark changed">M</span> changed,{' '}
          <span class="tree-mark deleted">D</span> deleted since the project was first opened here. A lock: the policy
          keeps the agent from opening the file, or only from changing it, and no approval allows it. Its tooltip says
          which of them, and why. A change that needs an approval has no lock.
        </p>
      </div>
    </Dialog>
  )
}
