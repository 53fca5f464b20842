import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { setParams } from '../state/address.ts';
import './menu.css';

export interface MenuItem {
  readonly title: string;
  /** Target of a link; set either `href` or `run`. */
  readonly href?: string;
  /** Action of a button. */
  readonly run?: () => void;
}

/** A button that opens a menu. */
export function Menu({
  children,
  items,
  label,
  class: className = '',
}: {
  children: ComponentChildren;
  items: () => readonly (MenuItem | 'line')[];
  /** Accessible name of the button, if its contents are not enough. */
  label?: string;
  class?: string;
}) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const close = (refocus: boolean) => {
    setOpen(false);
    if (refocus) button.current?.focus();
  };
  return (
    <span class={`menu ${className}`}>
      <button
        ref={button}
        type="button"
        class="menu-button"
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        {...(label !== undefined && { 'aria-label': label })}
        onClick={(event) => {
          event.stopPropagation();
          setOpen(!open);
        }}
      >
        {children}
      </button>
      {open && <MenuList id={id} items={items()} anchor={button.current} onClose={close} />}
    </span>
  );
}

function MenuList({
  id,
  items,
  anchor,
  onClose,
}: {
  id: string;
  items: readonly (MenuItem | 'line')[];
  anchor: HTMLElement | null;
  onClose: (refocus: boolean) => void;
}) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const shown = list.current;
    if (shown === null || anchor === null) return;
    // A popover is not clipped by scrolling containers, so it must be placed beside its button.
    shown.showPopover();
    const { left, bottom, top } = anchor.getBoundingClientRect();
    const { width, height } = shown.getBoundingClientRect();
    shown.style.left = `${Math.max(4, Math.min(left, innerWidth - width - 4))}px`;
    shown.style.top = `${bottom + height + 8 > innerHeight ? Math.max(4, top - height - 2) : bottom + 2}px`;
    shown.querySelector<HTMLElement>('[role=menuitem]')?.focus();
    const away = (event: Event) => {
      if (event.target instanceof Node && (shown.contains(event.target) || anchor.contains(event.target))) return;
      onClose(false);
    };
    addEventListener('pointerdown', away, true);
    addEventListener('scroll', away, true);
    addEventListener('resize', away);
    return () => {
      removeEventListener('pointerdown', away, true);
      removeEventListener('scroll', away, true);
      removeEventListener('resize', away);
    };
  }, []);
  const move = (by: number) => {
    const all = [...(list.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
    all[(all.indexOf(document.activeElement as HTMLElement) + by + all.length) % all.length]?.focus();
  };
  return (
    <div
      ref={list}
      id={id}
      role="menu"
      popover="manual"
      class="menu-list"
      onClick={(event) => event.stopPropagation()}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === 'ArrowDown' || event.key === 'j') move(1);
        else if (event.key === 'ArrowUp' || event.key === 'k') move(-1);
        else if (event.key === 'Escape' || event.key === 'Tab') onClose(true);
        else return;
        event.preventDefault();
      }}
    >
      {items.map((item, index) =>
        item === 'line' ? (
          <hr key={index} />
        ) : item.href !== undefined ? (
          <a key={index} role="menuitem" tabIndex={-1} href={item.href} onClick={() => onClose(false)}>
            {item.title}
          </a>
        ) : (
          <button
            key={index}
            type="button"
            role="menuitem"
            tabIndex={-1}
            onClick={({ detail }) => {
              // Returns the focus for keyboard users only: after a mouse click, the page handles Enter.
              onClose(detail === 0);
              item.run?.();
            }}
          >
            {item.title}
          </button>
        ),
      )}
    </div>
  );
}

/** Sort menu: for orders without a column heading, and for screens without room for headings. */
export function SortMenu({
  sorts,
  sort,
  usual,
}: {
  sorts: readonly { readonly by: string; readonly title: string }[];
  /** The current order. */
  sort: string;
  /** The default order, which is omitted from the URL. */
  usual: string;
}) {
  return (
    <Menu
      class="button"
      label={`Sort: ${sorts.find(({ by }) => by === sort)?.title ?? sort}`}
      items={() =>
        sorts.map(({ by, title }) => ({
          title,
          run: () => setParams({ sort: by === usual ? undefined : by }),
        }))
      }
    >
      Sort ▾
    </Menu>
  );
}
