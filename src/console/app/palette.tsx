import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { asSearchText } from '../../contract/search-text.ts';
import { pages } from '../pages/index.ts';
import { go, href } from '../state/address.ts';
import { useAnswer } from '../state/answers.ts';
import { may, me } from '../state/session.ts';
import { Dialog } from '../ui/dialog.tsx';
import { shownTime } from '../ui/values.tsx';
import './palette.css';

interface Hit {
  readonly kind: string;
  readonly title: string;
  readonly href: string;
}

const maxHits = 5;
const looksLikeNetwork = (text: string): boolean =>
  /^(\d{1,3}\.){3}\d{1,3}(\/\d{1,2})?$/.test(text) || (/^[0-9a-f:.]+(\/\d{1,3})?$/i.test(text) && text.includes(':'));
const looksLikeName = (text: string): boolean => /^[^\s/]+\.[^\s/.]{2,}$/.test(text) && !looksLikeNetwork(text);

/** Searches addresses, names, rules, alerts and pages. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [asked, setAsked] = useState('');
  const [at, setAt] = useState(0);
  const list = useId();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.trim()), 150);
    return () => clearTimeout(timer);
  }, [text]);
  const hits = useHits(text.trim(), asked);
  const chosen = Math.min(at, hits.length - 1);
  const open = (hit: Hit | undefined) => {
    if (hit === undefined) return;
    go(hit.href);
    onClose();
  };
  return (
    <Dialog title="Search" onClose={onClose}>
      <input
        ref={input}
        class="input"
        role="combobox"
        aria-label="Address, name, rule or page"
        aria-expanded={hits.length > 0}
        aria-controls={list}
        aria-activedescendant={hits.length > 0 ? `${list}-${chosen}` : undefined}
        placeholder="Address, name, rule or page"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') setAt(Math.min(chosen + 1, hits.length - 1));
          else if (event.key === 'ArrowUp') setAt(Math.max(chosen - 1, 0));
          else if (event.key === 'Enter') open(hits[chosen]);
          else return;
          event.preventDefault();
        }}
      />
      <ul id={list} role="listbox" aria-label="Results" class="palette">
        {hits.map((hit, index) => (
          <li
            key={`${hit.kind} ${hit.href}`}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => open(hit)}
          >
            <span class="quiet">{hit.kind}</span>
            <bdi class="clip">{hit.title}</bdi>
          </li>
        ))}
      </ul>
      {hits.length === 0 && <p class="quiet">No results.</p>}
    </Dialog>
  );
}

function useHits(text: string, asked: string): Hit[] {
  const query = { q: asSearchText(asked), per_page: maxHits };
  const enabled = asked.length > 1 && me.value !== undefined;
  const assets = useAnswer('listAssets', { query }, { enabled: enabled && may('listAssets') });
  const rules = useAnswer('listRules', { query }, { enabled: enabled && may('listRules') });
  const alerts = useAnswer('listAlerts', { query }, { enabled: enabled && may('listAlerts') });
  const lower = text.toLowerCase();
  const found: Hit[] = pages
    .filter(({ title, needs }) => title.toLowerCase().includes(lower) && may(needs))
    .map(({ name, title }) => ({ kind: 'page', title, href: href(name, shownTime()) }));
  if (looksLikeNetwork(text)) {
    if (may('listAssets')) found.unshift({ kind: 'asset', title: text, href: href('assets', { ip: text }) });
    if (may('listAlerts')) found.unshift({ kind: 'alerts', title: text, href: href('alerts', { ip: text }) });
    if (may('listNetworkEvents')) found.unshift({ kind: 'events', title: text, href: href('events', { ip: text }) });
  }
  if (looksLikeName(text) && may('listDnsEvents'))
    found.unshift({ kind: 'DNS events', title: text, href: href('events', { table: 'dns', q: text }) });
  if (!enabled || asked !== text) return found;
  for (const { id, attributes } of assets.data?.data ?? [])
    found.push({ kind: 'asset', title: attributes.name, href: href('assets', { id }) });
  for (const { id, attributes } of rules.data?.data ?? [])
    found.push({
      kind: 'rule',
      title: attributes.title,
      href: href('administration', { view: 'rules', id }),
    });
  for (const { id, attributes } of alerts.data?.data ?? [])
    found.push({ kind: 'alert', title: attributes.title, href: href('alerts', { range: 'all', id }) });
  return found;
}
