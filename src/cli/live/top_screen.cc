// SPDX-License-Identifier: Apache-2.0
#include "cli/live/top_screen.h"

#include <fmt/format.h>
#include <langinfo.h>
#include <locale.h>
#define NCURSES_NOMACROS
#include <ncurses.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>

#include "base/utf.h"
#include "report/text/humanize.h"
#include "report/text/shorten.h"

namespace clrscope::cli {
namespace {

constexpr int kFatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

termios terminal_before;

// Leaves the alternate screen, shows the cursor, plain text, echo: all by two system calls.
void OnCrash(int signal) {
  constexpr char kReset[] = "\033[?1049l\033[?25h\033[0m\033[?1l\033>\r\n";
  (void)!::write(STDOUT_FILENO, kReset, sizeof(kReset) - 1);
  (void)::tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
  ::raise(signal);  // SA_RESETHAND: dies of it now
}

// Bars and names need UTF-8, whatever the environment says. False where the system has no such
// locale: glibc has none built in. One of another charset is not used, for its tables are libraries
// that a static program must not load.
bool SetUtf8() {
  for (const char* locale : {"C.UTF-8", ""})
    if (::setlocale(LC_CTYPE, locale) != nullptr &&
        std::string_view(::nl_langinfo(CODESET)) == "UTF-8")
      return true;
  ::setlocale(LC_CTYPE, "C");
  return false;
}

// Column for column what ncurses can show without a UTF-8 locale.
std::string ToAscii(std::string_view text) {
  static constexpr std::pair<char16_t, char> kLike[] = {
      {u'±', '~'}, {u'·', '-'}, {u'–', '-'}, {u'…', '.'}, {u'←', '<'}, {u'→', '>'},
      {u'↑', '^'}, {u'↓', 'v'}, {u'×', 'x'}, {u'▸', '>'}, {u'▾', 'v'}};
  std::string out;
  for (const char16_t c : ToUtf16(text)) {
    if (c >= 0xDC00 && c < 0xE000) continue;  // the second half of a pair
    const auto* like = std::find_if(std::begin(kLike), std::end(kLike),
                                    [c](const auto& pair) { return pair.first == c; });
    out += c < 0x80                     ? static_cast<char>(c)
           : c >= 0x2581 && c <= 0x2588 ? ".:-=+*#@"[c - 0x2581]
           : like != std::end(kLike)    ? like->second
                                        : '?';
  }
  return out;
}

}  // namespace

Result<std::unique_ptr<TopScreen>> TopScreen::Open() {
  const bool utf8 = SetUtf8();
  ::set_escdelay(50);
  (void)::tcgetattr(STDIN_FILENO, &terminal_before);
  if (::newterm(nullptr, stdout, stdin) == nullptr) {  // initscr would end the program here
    const char* term = ::getenv("TERM");
    return Error{ErrorCode::kFailed,
                 fmt::format("this system does not describe the terminal {} (TERM; ncurses looks "
                             "in TERMINFO, /etc/terminfo, /lib/terminfo and /usr/share/terminfo)",
                             term == nullptr || *term == '\0' ? "that has no name" : term)};
  }
  return std::unique_ptr<TopScreen>(new TopScreen(utf8));
}

TopScreen::TopScreen(bool utf8) : utf8_(utf8) {
  struct sigaction action = {};
  action.sa_handler = OnCrash;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : kFatal) ::sigaction(signal, &action, nullptr);
  ::def_prog_mode();
  ::cbreak();
  ::noecho();
  ::keypad(stdscr, TRUE);
  ::nodelay(stdscr, TRUE);
  ::curs_set(0);
  if (::has_colors() && ::getenv("NO_COLOR") == nullptr) {
    ::start_color();
    ::use_default_colors();
    ::init_pair(kGood, COLOR_GREEN, -1);
    ::init_pair(kCaution, COLOR_YELLOW, -1);
    ::init_pair(kAccent, COLOR_CYAN, -1);
  }
}

TopScreen::~TopScreen() {
  ::endwin();
  for (const int signal : kFatal) ::signal(signal, SIG_DFL);
}

void TopScreen::Suspend() { ::endwin(); }
void TopScreen::Resume() {
  ::refresh();
  ::clearok(stdscr, TRUE);
}

void TopScreen::Text(int y, int x, std::string_view text, int width) {
  if (width <= 0 || x >= COLS || y >= LINES) return;
  width = std::min(width, COLS - x);
  std::string shown = report::Printable(text);
  if (report::DisplayWidth(shown) > static_cast<size_t>(width))
    shown = report::ShortenMiddle(shown, static_cast<size_t>(width));
  ::mvaddstr(y, x, utf8_ ? shown.c_str() : ToAscii(shown).c_str());
}

void TopScreen::Right(int y, int x, std::string_view text, int width) {
  const int blank = width - static_cast<int>(report::DisplayWidth(text));
  Text(y, x + std::max(blank, 0), text, width - std::max(blank, 0));
}

void TopScreen::DrawHelp(int top, int height) {
  static constexpr const char* kHelp[] = {
      "1 2 3 4 5 Tab  types, sites, processes, threads, requests; t: threads",
      "r              by request; once more: requests themselves (--requests)",
      "a e l          allocations, exceptions, waits for locks",
      "c w            CPU time (--cpu), wall time (--wall) and other waits (--waits)",
      "↑ ↓  PgUp PgDn  Home End   move; j and k too",
      "Enter  →       the call stacks of a row; opens and closes a line there",
      "b              in the call stacks: callers, or the tree from the root",
      "Esc  ←         back",
      "s              sort by either rate, the total, the name",
      "/              filter by a part of the name; Enter keeps it, Esc clears it",
      "Space  p       pause the screen; recording goes on",
      "q  Ctrl-C      quit",
      "",
      "Rates are of the last 5 seconds. Allocations are estimated from samples: 95 % tells how",
      "far off they may be, ~ that it is unknown (AllocationTick). Totals are since the start.",
  };
  for (int i = 0; i < height && i < static_cast<int>(std::size(kHelp)); ++i)
    Text(top + i, 2, kHelp[i], COLS - 2);
}

void TopScreen::DrawFoot(const TopModel& m) {
  ::attron(A_DIM);
  if (!note_.empty() && !m.in_tree())
    Text(LINES - 1, 0, note_, COLS);
  else
    Text(LINES - 1, 0,
         m.help     ? "any key: back"
         : m.typing ? "Enter keep  Esc clear"
         : m.in_tree()
             ? "Enter open/close  b callers/tree  Esc back  q quit"
             : "? help  / filter  s sort  Space pause  Enter stacks  e exceptions  l locks  q quit",
         COLS);
  ::attroff(A_DIM);
}

void TopScreen::Draw(const TopModel& m) {
  ::erase();
  constexpr int kTop = 5;
  const int height = std::max(LINES - kTop - 1, 1);
  DrawHead(m);
  if (m.help)
    DrawHelp(kTop + 1, height - 1);
  else if (m.in_tree())
    DrawTree(m, kTop, height);
  else
    DrawRows(m, kTop, height);
  DrawFoot(m);
  ::refresh();
}

}  // namespace clrscope::cli
