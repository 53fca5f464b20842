import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { href, place } from '../../state/address.ts';
import { may, me } from '../../state/session.ts';
import { Page } from '../../ui/page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { type AdministrationView, views } from './views.ts';
import './administration.css';

/** Who may do what, what is looked for, and how the service is run: each view to who may see it. */
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
        <Empty title={`${shown?.title ?? 'This page'} is not for your role`}>
          {me.value?.name} has {me.value?.roles.join(', ') || 'no role'}.
        </Empty>
      ) : (
        <Shown key={shown.value} view={shown} />
      )}
    </Page>
  );
}

/** Links, so that nothing of one view (its filters, what is open) goes along to the next. */
function Views({
  offered,
  shown,
}: {
  offered: readonly AdministrationView[];
  shown: AdministrationView | undefined;
}) {
  return (
    <nav class="admin-views" aria-label="Views of the administration">
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

/** The view, once its part of the program is there. */
function Shown({ view }: { view: AdministrationView }) {
  const [loaded, setLoaded] = useState<{ View: ComponentType } | Error | undefined>();
  const load = () => {
    setLoaded(undefined);
    view.load().then(
      (module) => setLoaded({ View: module.default }),
      (error: Error) => setLoaded(error),
    );
  };
  useEffect(load, []);
  if (loaded === undefined) return <Loading />;
  if (loaded instanceof Error) return <Failure error={loaded} onRetry={load} />;
  return <loaded.View />;
}
