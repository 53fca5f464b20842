import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { href, place } from '../../state/address.ts';
import { loadPage } from '../../state/page-code.ts';
import { may, me } from '../../state/session.ts';
import { Page } from '../../ui/page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { type AdministrationView, views } from './views.ts';
import './administration.css';

/** The administration page. Users see only the views that their roles include. */
export default function Administration() {
  const asked = place.value.params.get('view');
  const offered = views.filter(({ needs }) => may(needs));
  const named = views.find(({ value }) => value === asked);
  const shown = named ?? offered[0];
  return (
    <Page
      title="Administration"
      bar={<Views offered={offered} shown={shown} />}
      range={shown?.value === 'audit' && offered.includes(shown) ? 'any' : 'none'}
    >
      {shown === undefined || !offered.includes(shown) ? (
        <Empty title={`${shown?.title ?? 'This page'} is not available to your role`}>
          {me.value?.name} has {me.value?.roles.join(', ') || 'no role'}.
        </Empty>
      ) : (
        <Shown key={shown.value} view={shown} />
      )}
    </Page>
  );
}

/** Links to the views. A link drops the filters and the open item of the current view. */
function Views({ offered, shown }: { offered: readonly AdministrationView[]; shown: AdministrationView | undefined }) {
  return (
    <nav class="admin-views" aria-label="Administration views">
      {offered.map(({ value, title }) => (
        <a
          key={value}
          href={href('administration', { view: value })}
          aria-current={value === shown?.value ? 'page' : undefined}
          ref={(link) => {
            if (value === shown?.value) link?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
          }}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}

/** Loads the code of a view, then shows the view. */
function Shown({ view }: { view: AdministrationView }) {
  const [loaded, setLoaded] = useState<{ View: ComponentType } | Error | undefined>();
  const load = (again: boolean) => {
    setLoaded(undefined);
    loadPage(view.load, again).then(
      (View) => setLoaded({ View }),
      (error: Error) => setLoaded(error),
    );
  };
  useEffect(() => load(false), []);
  if (loaded === undefined) return <Loading />;
  if (loaded instanceof Error) return <Failure error={loaded} onRetry={() => load(true)} />;
  return <loaded.View />;
}
