# Writes OUTPUT from TEMPLATE with the commit that SOURCE is at. Run at every build; configure_file
# leaves an unchanged file alone, so nothing is compiled anew without need.
find_program(GIT git)
set(LONGPOLE_COMMIT "")
if(GIT)
  execute_process(
    COMMAND "${GIT}" describe --always --dirty --abbrev=12 --exclude=*
    WORKING_DIRECTORY "${SOURCE}"
    OUTPUT_VARIABLE LONGPOLE_COMMIT
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET)
endif()
configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)
