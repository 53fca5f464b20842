import { AuditFault } from '../../../client/verifier.ts';
import { place, setParams } from '../../state/address.ts';
import { pinHistory, pinState } from '../../state/pin.ts';
import { Button } from '../../ui/button.tsx';
import { counted, number } from '../../ui/format.ts';
import { Menu } from '../../ui/menu.tsx';
import { Empty, Loading } from '../../ui/states.tsx';
import { FaultText } from './check.tsx';
import { comparedSizes } from './compared-sizes.ts';
import { ConsistencyShown } from './consistency-shown.tsx';
import { type Comparison, compareSizes } from './heads-to-compare.ts';
import { useChecked } from './log.ts';
import { PinPanel } from './pin-panel.tsx';
import './consistency-view.css';

/** Comparison of two sizes of the log, and the pin of this browser. */
export function ConsistencyView() {
  const { params } = place.value;
  const state = pinState.value;
  const newest = 'pin' in state ? state.pin?.head.size : undefined;
  const sizes = comparedSizes(params.get('first'), params.get('second'), pinHistory.value, newest);
  return (
    <div class="stack">
      <Sizes first={sizes?.first} second={sizes?.second} newest={newest} />
      {sizes === undefined ? (
        newest === undefined && state.kind !== 'empty' ? (
          <Loading />
        ) : state.kind === 'empty' ? (
          <Empty title="The log is empty">Two sizes of the log can be compared once it has two entries.</Empty>
        ) : (
          <Empty title="Nothing to compare yet">Two sizes of the log can be compared once it has two entries.</Empty>
        )
      ) : sizes.first >= sizes.second ? (
        <Empty title="The earlier size must be smaller than the later one" />
      ) : newest !== undefined && sizes.second > newest ? (
        <Empty title={`The log has ${counted(newest, 'entry', 'entries')}`}>Enter sizes up to this number.</Empty>
      ) : (
        <Compared first={sizes.first} second={sizes.second} />
      )}
      <PinPanel />
    </div>
  );
}

function Compared({ first, second }: { first: number; second: number }) {
  const { value, again } = useChecked<Comparison>(['consistency', first, second], () => compareSizes(first, second), {
    keep: true,
  });
  if (value === undefined) return <Loading rows={10} />;
  if (value instanceof AuditFault)
    return (
      <div class="state" role="alert">
        <p class="state-title">Cannot compare these sizes.</p>
        <FaultText fault={value} />
        <Button onClick={again}>Retry</Button>
      </div>
    );
  return <ConsistencyShown comparison={value} />;
}

function Sizes({
  first,
  second,
  newest,
}: {
  first: number | undefined;
  second: number | undefined;
  newest: number | undefined;
}) {
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        setParams({ first: sizeIn(form, 'first'), second: sizeIn(form, 'second') });
      }}
    >
      <SizeField name="first" title="Earlier size" value={first} />
      <Pinned name="first" />
      <SizeField name="second" title="Later size" value={second} />
      <Pinned name="second" />
      <Button type="submit">Compare</Button>
      {newest !== undefined && <span class="quiet">sizes 1 to {number(newest)}</span>}
    </form>
  );
}

function SizeField({ name, title, value }: { name: string; title: string; value: number | undefined }) {
  return (
    <label class="row">
      {title}
      <input
        key={value}
        class="input mono size-field"
        name={name}
        inputMode="numeric"
        pattern="[0-9]{1,16}"
        autocomplete="off"
        defaultValue={value === undefined ? '' : String(value)}
      />
    </label>
  );
}

/** Returns the size that the user entered; undefined if it is not a number. */
function sizeIn(form: FormData, name: string): string | undefined {
  const text = String(form.get(name) ?? '').trim();
  return /^[0-9]{1,16}$/.test(text) ? String(Number(text)) : undefined;
}

/** Menu of the sizes that this browser pinned. */
function Pinned({ name }: { name: 'first' | 'second' }) {
  const history = pinHistory.value;
  if (history.length === 0) return null;
  const shown = [...new Map(history.map((one) => [one.size, one])).values()];
  const some = shown.length <= 14 ? shown : [...shown.slice(0, 12), shown.at(-1)!];
  return (
    <Menu
      class="button button-plain"
      label={`Choose the ${name === 'first' ? 'earlier' : 'later'} size from pinned heads`}
      items={() =>
        some.map(({ size, at }, i) => ({
          title: `${number(size)}, pinned ${at.slice(0, 16).replace('T', ' ')}${i === some.length - 1 ? ' (first)' : ''}`,
          run: () => setParams({ [name]: size }),
        }))
      }
    >
      pinned ▾
    </Menu>
  );
}
