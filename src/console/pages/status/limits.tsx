import type { Status } from '../../../contract/resources/status.ts';
import { number } from '../../ui/format.ts';
import { Empty } from '../../ui/states.tsx';

/** What was refused or cut short since the start, by the limit that did it: nothing is dropped without a count. */
export function Limits({ status }: { status: Status }) {
  const reached = [...status.limits_reached].sort((a, b) => b.times - a.times);
  return (
    <section class="panel status-wide" aria-label="Limits reached">
      <h2>Limits reached since the start</h2>
      {reached.length === 0 ? (
        <Empty title="None.">Nothing was refused, and nothing was lost.</Empty>
      ) : (
        <table class="status-table">
          <thead>
            <tr>
              <th scope="col">Limit, and what became of what went beyond it</th>
              <th scope="col" class="number">
                Times
              </th>
            </tr>
          </thead>
          <tbody>
            {reached.map(({ limit, times, meaning }) => (
              <tr key={limit}>
                <th scope="row">
                  <span class="mono">{limit}</span>
                  <p class="quiet">{meaning}</p>
                </th>
                <td class="number">{number(times)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
