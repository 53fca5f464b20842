import { useEffect, useRef } from 'preact/hooks';
import { pages } from '../pages/index.ts';
import { href, place } from '../state/address.ts';
import { theme, zone } from '../state/preferences.ts';
import { may, me, signedIn, signOut } from '../state/session.ts';
import { zoneName } from '../ui/format.ts';
import { Menu } from '../ui/menu.tsx';
import { sayFailure } from '../ui/toasts.tsx';
import { shownTime } from '../ui/values.tsx';
import './rail.css';

const themes = { system: 'System', dark: 'Dark', light: 'Light' } as const;

/** Navigation and the user menu. Links keep the time range that is shown. */
export function Rail({ onFind, onHelp }: { onFind: () => void; onHelp: () => void }) {
  const current = place.value.page;
  const list = useRef<HTMLUListElement>(null);
  // On narrow windows the row of pages scrolls, so the current page is scrolled into view.
  useEffect(() => {
    list.current?.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [current]);
  const shown = signedIn.value ? pages.filter(({ needs }) => may(needs)) : pages.filter(({ name }) => isPublic(name));
  return (
    <nav class="rail" aria-label="Pages">
      <a class="rail-mark" href={href('overview', shownTime())} aria-label="Candor: overview">
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M10 2 18 10 10 18 2 10z" />
          <path class="rail-mark-core" d="M10 7 13 10 10 13 7 10z" />
        </svg>
        <span class="rail-title">Candor</span>
      </a>
      <ul ref={list}>
        {shown.map(({ name, title, icon, key }) => (
          <li key={name}>
            <a
              href={href(name, shownTime())}
              aria-current={name === current ? 'page' : undefined}
              title={`${title} (g ${key})`}
            >
              <svg viewBox="0 0 20 20" aria-hidden="true">
                <path d={icon} />
              </svg>
              <span class="rail-title">{title}</span>
            </a>
          </li>
        ))}
      </ul>
      <div class="rail-own">
        <button type="button" onClick={onFind} title="Search (ctrl k)">
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path d="M9 3a6 6 0 1 0 0 12A6 6 0 0 0 9 3m4.5 10.5L18 18" />
          </svg>
          <span class="rail-title">Search</span>
        </button>
        {signedIn.value ? (
          <Menu
            items={() => [
              ...(Object.keys(themes) as (keyof typeof themes)[]).map((name) => ({
                title: `${theme.value === name ? '✓ ' : ''}${themes[name]}`,
                run: () => {
                  theme.value = name;
                },
              })),
              'line',
              {
                title: `${zone.value === 'local' ? '✓ ' : ''}Local time`,
                run: () => {
                  zone.value = 'local';
                },
              },
              {
                title: `${zone.value === 'utc' ? '✓ ' : ''}UTC`,
                run: () => {
                  zone.value = 'utc';
                },
              },
              'line',
              { title: 'Keyboard shortcuts', run: onHelp },
              { title: 'Change password', href: href('administration', { view: 'account' }) },
              {
                title: 'Sign out',
                run: () => void signOut().catch((error) => sayFailure('Sign-out', error)),
              },
            ]}
          >
            <span class="rail-person" aria-hidden="true" data-letter={me.value?.name.slice(0, 1).toUpperCase()} />
            <span class="rail-title">
              {me.value?.name} · {zoneName(Date.now())}
            </span>
            <span class="unseen">: account and appearance</span>
          </Menu>
        ) : (
          <a href={href('sign-in')} aria-label="Sign in">
            <span class="rail-person" aria-hidden="true">
              →
            </span>
            <span class="rail-title">Sign in</span>
          </a>
        )}
      </div>
    </nav>
  );
}

const isPublic = (name: string): boolean => name === 'docs' || name === 'transparency';
