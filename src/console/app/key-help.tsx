import { shownKeys } from '../state/keys.ts';
import { Dialog } from '../ui/dialog.tsx';
import './key-help.css';

/** Lists the shortcut keys of everything that is currently on screen, except the keys of dialogs. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  const layers = shownKeys().filter(({ keys, name }) => Object.keys(keys).length > 0 && !name.startsWith('Dialog'));
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose} wide>
      <div class="key-help">
        {layers.map(({ name, keys }) => (
          <section key={name}>
            <h3 class="quiet">{name}</h3>
            <dl>
              {Object.entries(keys).map(([key, { title }]) => (
                <div key={key}>
                  <dt>
                    {key.split(' ').map((part) => (
                      <kbd key={part}>{part}</kbd>
                    ))}
                  </dt>
                  <dd>{title}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
